//! A PNG file as far as it decides pixels. Profiles, texts and animations are left out before the file is
//! decoded: a few kilobytes of them may unpack to a gigabyte. EXIF data, which may say how the image is
//! turned, come before the pixels wherever they stand.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// EXIF data that are longer are no note of a camera.
const LONGEST_EXIF: u32 = 1 << 20;

/// Whether a file begins as a PNG does.
pub(super) fn is_png(start: &[u8]) -> bool {
    start.starts_with(SIGNATURE)
}

/// The chunks that decide pixels, of at most so many bytes in all; or without the pixels themselves.
pub(super) fn needed(source: impl Read + Seek, pixels: bool, most: u64) -> io::Result<Vec<u8>> {
    let mut source = BufReader::new(source);
    let (mut before, mut data, mut left) = (Vec::new(), Vec::new(), most);
    source.by_ref().take(SIGNATURE.len() as u64).read_to_end(&mut before)?;
    loop {
        let mut head = Vec::new();
        source.by_ref().take(8).read_to_end(&mut head)?;
        let &[a, b, c, d, ref kind @ ..] = &head[..] else {
            // The decoder names what is cut.
            data.extend(head);
            break;
        };
        let length = u32::from_be_bytes([a, b, c, d]);
        // With its checksum.
        let bytes = u64::from(length) + 4;
        let (is_exif, is_pixels) = (kind == b"eXIf", kind == b"IDAT");
        let critical = kind.first().is_some_and(u8::is_ascii_uppercase) || kind == b"tRNS";
        // Without pixels, only EXIF data matter behind the place of the first.
        let passed = !pixels && (is_pixels || !data.is_empty());
        if (passed || !critical) && !(is_exif && length <= LONGEST_EXIF) {
            if is_pixels && data.is_empty() {
                data.extend(head);
            }
            source.seek(SeekFrom::Current(i64::from(length) + 4))?;
            continue;
        }
        left = left.checked_sub(bytes).ok_or_else(|| io::Error::other("the file is too large"))?;
        let chunk = if data.is_empty() && !is_pixels || is_exif { &mut before } else { &mut data };
        let ends = kind == b"IEND";
        chunk.extend(head);
        if source.by_ref().take(bytes).read_to_end(chunk)? as u64 != bytes || ends {
            break;
        }
    }
    before.extend(data);
    Ok(before)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        [&(data.len() as u32).to_be_bytes()[..], kind, data, b"crc4"].concat()
    }

    #[test]
    fn only_what_decides_pixels_is_kept() {
        let [head, profile, one, two, exif, end] = [
            chunk(b"IHDR", b"head"),
            chunk(b"iCCP", &[0; 1000]),
            chunk(b"IDAT", b"12"),
            chunk(b"IDAT", b"34"),
            chunk(b"eXIf", b"turned"),
            chunk(b"IEND", b""),
        ];
        let file = [SIGNATURE, &head, &profile, &one, &two, &exif, &end, b"more"].concat();
        let kept = |pixels, most| needed(Cursor::new(&file), pixels, most);
        let wanted = [SIGNATURE, &head, &exif, &one, &two, &end].concat();
        assert_eq!(kept(true, 1000).unwrap(), wanted);
        assert_eq!(
            kept(false, 1000).unwrap()[..],
            wanted[..wanted.len() - end.len() - two.len() - 6]
        );
        assert!(kept(true, 20).is_err());
        // Cut anywhere, it ends there.
        for length in 0..file.len() {
            needed(Cursor::new(&file[..length]), true, 1000).unwrap();
        }
    }
}
