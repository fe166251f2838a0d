//! What a vector is known by: the SHA-256 of what was encoded.

use sha2::{Digest as _, Sha256};

use crate::Image;

/// A digest of a text or an image.
pub(super) type Key = [u8; 32];

/// Of a text: its bytes as they are.
pub(super) fn of_text(text: &str) -> Key {
    let mut hash = Sha256::new_with_prefix(b"text 1\0");
    hash.update(text.as_bytes());
    hash.finalize().into()
}

/// Of an image: its shape and its pixels.
pub(super) fn of_image(image: &Image<'_>) -> Key {
    let mut hash = Sha256::new_with_prefix(b"picture 1\0");
    for side in [image.height, image.width, image.channels] {
        hash.update((side as u64).to_le_bytes());
    }
    hash.update(image.pixels);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_things_have_different_keys() {
        let image = |height, width, pixels| Image { height, width, channels: 1, pixels };
        let keys = [
            of_text(""),
            of_text("a"),
            of_text("a "),
            of_image(&image(1, 2, b"ab")),
            of_image(&image(2, 1, b"ab")),
            of_image(&image(1, 2, b"ac")),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
        assert_eq!(of_text("a"), of_text("a"));
    }
}
