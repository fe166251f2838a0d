//! numpy's `.npz`: an array of images or feature vectors, and optionally one of ids.

use dissensus_io::Example;
use dissensus_io::ReadOption;
use dissensus_io::{Archive, Source};

use super::array::Numbers;
use super::choice::{self, choose};
use super::{Format, Opened, Origin, misplaced};
use crate::error::InputError;
use crate::inputs::Inputs;
use crate::options::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "npz",
    layout: ".npz with `images`, `features` or `embeddings` (or one array of any name), and optionally `ids` (texts or whole numbers)",
    examples: &[
        Example::arrays(
            "features.npz",
            &[("features", "[[0.5, 1.25], [0.0, 2.5]]"), ("ids", "[\"a\", \"b\"]")],
        ),
        Example::arrays("images.npz", &[("images", "uint8 (2, 8, 8, 3)"), ("ids", "[7, 9]")]),
    ],
    options: &[ReadOption::Id, ReadOption::Key, ReadOption::Layout],
    detect: |opened, _| matches!(opened, Opened::Source(Source::Archive(_))),
    read,
};

const END: &str = ".npy";

fn read(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Opened::Source(Source::Archive(mut archive)) = opened else {
        return Err(misplaced(origin, &opened));
    };
    let file = origin.name.as_str();
    let member = |name: &str| format!("{name}{END}");
    let names: Vec<String> =
        archive.names().filter_map(|name| Some(name.strip_suffix(END)?.to_owned())).collect();
    let axes = |archive: &mut Archive, name: &str| {
        let bytes = archive.read(&member(name))?;
        // An array that is not understood cannot be meant; it is named where nothing else fits.
        Ok(Numbers::parse(file, &bytes).ok().map(|array| array.axes()))
    };
    let chosen = choose(file, &names, options.key.as_deref(), |name| axes(&mut archive, name))?;
    let mut lists = Vec::new();
    for name in names.iter().filter(|name| **name != chosen) {
        let bytes = archive.read(&member(name))?;
        lists.extend(choice::list(file, name, Numbers::parse(file, &bytes), options)?);
    }
    let bytes = archive.read(&member(&chosen))?;
    let array = Numbers::parse(file, &bytes)?;
    let (ids, note) = choice::ids(file, &names, lists, array.rows(), options)?;
    Ok(array.into_inputs(file, ids, options)?.noting(note.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::super::npy_bytes;
    use super::*;
    use crate::{Kind, read_bytes};
    use std::io::{Cursor, Write};

    fn npz(arrays: &[(&str, &str, &[usize], &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, descr, shape, data) in arrays {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("{name}.npy"), options).unwrap();
            zip.write_all(&npy_bytes(descr, shape, data)).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(bytes: &[u8], key: Option<&str>) -> Result<Inputs, InputError> {
        let key = key.map(str::to_owned);
        read_bytes("x.npz", bytes.to_vec(), &ReadOptions { key, ..ReadOptions::default() })
    }

    #[test]
    fn arrays_by_name_with_ids() {
        let ids: Vec<u8> = [30i64, -4].iter().flat_map(|id| id.to_le_bytes()).collect();
        let bytes = npz(&[
            ("images", "|u1", &[2, 1, 2], &[1, 2, 3, 4]),
            ("ids", "<i8", &[2], &ids),
            ("labels", "|u1", &[2, 3], &[0; 6]),
        ]);
        let inputs = read(&bytes, None).unwrap();
        assert!(inputs.ids().unwrap().iter().eq(["30", "-4"]));
        assert!(matches!(inputs.kind(), Kind::Images(images) if images.len() == 2));
        let other = read(&bytes, Some("labels")).unwrap();
        assert!(matches!(other.kind(), Kind::Features(features) if features.width() == 3));
        let texts = npz(&[("a", "|u1", &[2, 2], &[0; 4]), ("items", "|S2", &[2], b"a\0bb")]);
        assert!(read(&texts, None).unwrap().ids().unwrap().iter().eq(["a", "bb"]));
    }

    #[test]
    fn what_is_meant_must_be_clear() {
        let array = |name| (name, "|u1", &[2usize, 2][..], &[0u8; 4][..]);
        let several = npz(&[array("a"), array("b")]);
        let error = read(&several, None).unwrap_err().to_string();
        assert_eq!(error, "x.npz: a, b could all be meant; say which with `key`");
        let known = npz(&[array("x"), array("features")]);
        assert!(matches!(read(&known, None), Err(InputError::SeveralArrays { .. })));
        assert!(read(&several, Some("b")).is_ok());
        let error = read(&several, Some("c")).unwrap_err().to_string();
        assert!(error.contains("expected an array \"c\"; the arrays in it are a, b"), "{error}");
        let nothing = npz(&[("y", "|u1", &[2], &[0; 2])]);
        assert!(matches!(read(&nothing, None), Err(InputError::NoArray { .. })));
    }

    #[test]
    fn what_looks_like_ids_is_used_or_refused() {
        let array = ("x", "|u1", &[2usize, 2][..], &[0u8; 4][..]);
        let texts = |name| (name, "|S1", &[2usize][..], &b"ab"[..]);
        for name in ["uid", "names", "image_ids"] {
            let found = read(&npz(&[array, texts(name)]), None).unwrap();
            assert!(found.ids().unwrap().iter().eq(["a", "b"]) && found.notes().is_empty());
        }
        let found = read(&npz(&[array, texts("stimuli")]), None).unwrap();
        assert!(found.ids().unwrap().iter().eq(["a", "b"]));
        assert_eq!(found.notes(), ["ids are taken from \"stimuli\""]);
        let both = npz(&[array, texts("stimuli"), texts("trials")]);
        let error = read(&both, None).unwrap_err().to_string();
        assert!(error.contains("the ids could be in stimuli, trials"), "{error}");
        let numbers = npz(&[array, ("order", "|u1", &[2], &[1, 0])]);
        assert!(matches!(read(&numbers, None), Err(InputError::UnclearIds { .. })));
        let labels = npz(&[array, ("labels", "|u1", &[2], &[1, 0])]);
        assert_eq!(read(&labels, None).unwrap().ids(), None);
        let with = |bytes: Vec<u8>, id: Option<&str>, by_position| {
            let id = id.map(str::to_owned);
            read_bytes("x.npz", bytes, &ReadOptions { id, by_position, ..ReadOptions::default() })
        };
        let named = with(both.clone(), Some("trials"), false).unwrap();
        assert!(named.ids().is_some() && named.notes().is_empty());
        assert_eq!(with(both.clone(), None, true).unwrap().ids(), None);
        assert!(matches!(
            with(both.clone(), Some("u"), false),
            Err(InputError::NoSuchColumn { .. })
        ));
        assert!(matches!(with(both, Some("u"), true), Err(InputError::Inapplicable { .. })));
    }

    #[test]
    fn ids_must_fit() {
        let with = |descr, shape: &[usize], data: &[u8]| {
            let bytes = npz(&[("x", "|u1", &[2, 2], &[0; 4]), ("ids", descr, shape, data)]);
            read(&bytes, None).unwrap_err().to_string()
        };
        assert_eq!(with("|u1", &[3], &[1, 2, 3]), "x.npz: 3 ids for 2 rows; give each row one id");
        assert!(with("|u1", &[2], &[7, 7]).contains("row 0 and row 1 have the same id \"7\""));
        assert!(with("<f4", &[2], &[0; 8]).contains("found float32 of shape [2]"));
        let bad: Vec<u8> = [1.0f32, f32::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
        let bytes = npz(&[("x", "<f4", &[2, 1], &bad), ("ids", "|S1", &[2], b"ab")]);
        let error = read(&bytes, None).unwrap_err().to_string();
        assert!(error.starts_with("x.npz, row 1, id \"b\", column \"0\": NaN"), "{error}");
    }
}
