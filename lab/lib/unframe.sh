# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the guest sent through its second serial port (lab/guest/frame.sh), back into files. A frame:
#     migrc-frame NAME LENGTH SHA256 \n  LENGTH bytes of gzip  \n migrc-end NAME \n
# A later frame of a name replaces an earlier one; one that is torn is named and left out.

# unframe FILE DIR: prints "NAME" for each file written, on stderr what was torn. Fails only if there
# was no whole frame.
unframe() {
	local stream=$1 dir=$2 line offset name length sum begin next=0 got=1
	while IFS= read -r line; do
		offset=${line%%:*}
		# What looks like a frame inside of a payload.
		[ "$offset" -ge "$next" ] || continue
		read -r _ name length sum <<< "${line#*:}"
		begin=$((offset + ${#line} - ${#offset}))
		if unframe__one "$stream" "$dir" "$name" "$begin" "$length" "$sum"; then
			next=$((begin + length))
			got=0
		fi
	done < <(grep -aboE '^migrc-frame [a-zA-Z0-9_./-]+ [0-9]+ [0-9a-f]{64}$' "$stream" || true)
	return $got
}

unframe__one() {
	local stream=$1 dir=$2 name=$3 begin=$4 length=$5 sum=$6 part
	case /$name/ in
	*/../*) warn "results" "frame with the name $name left out"; return 1 ;;
	esac
	mkdir -p "$dir/$(dirname "$name")"
	part=$dir/$name.part
	tail -c "+$((begin + 1))" "$stream" | head -c "$length" > "$part" || true
	if [ "$(digest < "$part")" != "$sum" ]; then
		warn "results" "$name arrived torn ($(wc -c < "$part") of $length bytes); left out"
		rm -f "$part"
		return 1
	fi
	gzip -dc "$part" > "$part.whole" || die "$dir/$name" "could not be written" "see whether the disk is full"
	mv "$part.whole" "$dir/$name"
	rm -f "$part"
	echo "$name"
}
