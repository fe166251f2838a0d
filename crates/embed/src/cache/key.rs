//! What a vector is known by: the SHA-256 of what was encoded.

use sha2::{Digest as _, Sha256};

use crate::Picture;

/// A digest of a text or a picture.
pub(super) type Key = [u8; 32];

/// Of a text: its bytes as they are.
pub(super) fn of_text(text: &str) -> Key {
    let mut hash = Sha256::new_with_prefix(b"text 1\0");
    hash.update(text.as_bytes());
    hash.finalize().into()
}

/// Of a picture: its shape and its pixels.
pub(super) fn of_picture(picture: &Picture<'_>) -> Key {
    let mut hash = Sha256::new_with_prefix(b"picture 1\0");
    for side in [picture.height, picture.width, picture.channels] {
        hash.update((side as u64).to_le_bytes());
    }
    hash.update(picture.pixels);
    hash.finalize().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn different_things_have_different_keys() {
        let picture = |height, width, pixels| Picture { height, width, channels: 1, pixels };
        let keys = [
            of_text(""),
            of_text("a"),
            of_text("a "),
            of_picture(&picture(1, 2, b"ab")),
            of_picture(&picture(2, 1, b"ab")),
            of_picture(&picture(1, 2, b"ac")),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
        assert_eq!(of_text("a"), of_text("a"));
    }
}
