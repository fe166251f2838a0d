//! numpy's `.npy`, and what an array is wherever it comes from.
//!
//! | shape | values | is |
//! |---|---|---|
//! | N × D | any numbers | feature vectors |
//! | N × H × W | bytes | grey images |
//! | N × H × W × C or N × C × H × W, C 1 or 3 | bytes | images |
//!
//! Channels stand on the one axis that can hold them; where both can, `layout` must say.

use dissensus_io::Example;
use dissensus_io::Problem;
use dissensus_io::ReadOption;
use dissensus_io::Source;
use dissensus_io::npy::{self, Array, Element};

use super::{Format, Opened, Origin, misplaced};
use crate::error::{InputError, place};
use crate::features::Features;
use crate::images::{Images, Strides, gather};
use crate::inputs::{Inputs, Kind, check_ids};
use crate::options::{Layout, ReadOptions};

pub(super) const FORMAT: Format = Format {
    name: "npy",
    layout: ".npy of images (uint8, items × height × width × channels) or feature vectors (items × width); no ids: matched by position",
    examples: &[
        Example::arrays("images.npy", &[("array", "uint8 (2, 8, 8, 3)")]),
        Example::arrays("features.npy", &[("array", "[[0.5, 1.25, -1.0], [0.0, 2.5, 1.5]]")]),
    ],
    options: &[ReadOption::Layout],
    detect: |opened, _| matches!(opened, Opened::Source(Source::Npy(_))),
    read,
};

fn read(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Opened::Source(Source::Npy(bytes)) = &opened else {
        return Err(misplaced(origin, &opened));
    };
    Numbers::parse(&origin.name, bytes)?.into_inputs(&origin.name, None, options)
}

/// An array that inputs or ids are made of.
pub(super) struct Numbers<'a> {
    array: Array<'a>,
}

impl<'a> Numbers<'a> {
    /// An `.npy` file.
    pub(super) fn parse(file: &str, bytes: &'a [u8]) -> Result<Self, InputError> {
        Self::of(file, npy::parse(bytes))
    }

    /// An array that was opened, or not.
    pub(super) fn of(file: &str, array: Result<Array<'a>, Problem>) -> Result<Self, InputError> {
        let array = array.map_err(|problem| InputError::array(file, problem))?;
        Ok(Self { array })
    }

    /// How many axes it has.
    pub(super) fn axes(&self) -> usize {
        self.array.shape.len()
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        self.array.shape.first().copied().unwrap_or(0)
    }

    /// Whether it is a list of texts or whole numbers.
    pub(super) fn is_list(&self) -> bool {
        self.axes() == 1 && !matches!(self.array.element, Element::Float(_))
    }

    /// Whether its values are texts.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.array.element, Element::Text(_) | Element::Bytes(_))
    }

    /// The ids that it lists.
    pub(super) fn ids(&self, file: &str) -> Result<Vec<String>, InputError> {
        if !self.is_list() {
            let found = self.array.describe();
            return Err(InputError::BadIds { file: file.to_owned(), found });
        }
        self.array.texts().map_err(|problem| InputError::array(file, problem))
    }

    /// Images or feature vectors.
    pub(super) fn into_inputs(
        self,
        file: &str,
        ids: Option<Vec<String>>,
        options: &ReadOptions,
    ) -> Result<Inputs, InputError> {
        let shape = self.array.shape.clone();
        let cells = shape.iter().fold(1u64, |n, &axis| n.saturating_mul(axis as u64));
        if shape.len() > 1 && cells == 0 {
            return Err(InputError::Empty { file: file.to_owned(), shape });
        }
        let limit = options.limits.cells;
        if cells > limit {
            let what = "values";
            return Err(InputError::TooMany { file: file.to_owned(), what, found: cells, limit });
        }
        let kind = match shape[..] {
            [rows, width] => {
                check_count(file, ids.as_ref(), rows)?;
                refuse_layout(file, "feature vectors", options)?;
                Kind::Features(self.features(file, width, ids.as_deref())?)
            }
            [rows, ..] if matches!(shape.len(), 3 | 4) => {
                check_count(file, ids.as_ref(), rows)?;
                Kind::Images(self.images(file, options)?)
            }
            _ => return Err(InputError::Shape { file: file.to_owned(), shape }),
        };
        let ids =
            ids.map(|ids| check_ids(file, ids.iter().map(String::as_str), |row| place(row, None)));
        Inputs::new(file, ids.transpose()?, kind)
    }

    fn features(
        &self,
        file: &str,
        width: usize,
        ids: Option<&[String]>,
    ) -> Result<Features, InputError> {
        let numbers = self.array.numbers().map_err(|problem| InputError::array(file, problem))?;
        if let Some(at) = numbers.iter().position(|&value| !(value as f32).is_finite()) {
            let row = at / width;
            return Err(InputError::NotFinite {
                file: file.to_owned(),
                place: place(row, ids.and_then(|ids| ids.get(row)).map(String::as_str)),
                column: (at % width).to_string(),
                value: numbers[at],
            });
        }
        Features::new(file, width, numbers.into_iter().map(|value| value as f32).collect())
    }

    fn images(&self, file: &str, options: &ReadOptions) -> Result<Images, InputError> {
        let shape = &self.array.shape;
        if self.array.element != Element::Unsigned(1) {
            let (file, found) = (file.to_owned(), self.array.describe());
            return Err(InputError::NotBytes { file, found });
        }
        let steps = self.array.steps();
        let (shape, steps) = match (&shape[..], &steps[..]) {
            (&[items, height, width], &[item, row, column]) => {
                refuse_layout(file, "grey images", options)?;
                let strides = Strides { item, row, column, channel: 0, start: 0 };
                ([items, height, width, 1], strides)
            }
            (&[items, a, b, c], &[item, at_a, at_b, at_c]) => {
                match layout(file, [items, a, b, c], options)? {
                    Layout::Nhwc => {
                        let (row, column, channel) = (at_a, at_b, at_c);
                        ([items, a, b, c], Strides { item, row, column, channel, start: 0 })
                    }
                    Layout::Nchw => {
                        let (channel, row, column) = (at_a, at_b, at_c);
                        ([items, b, c, a], Strides { item, row, column, channel, start: 0 })
                    }
                }
            }
            _ => return Err(InputError::Shape { file: file.to_owned(), shape: shape.clone() }),
        };
        let [_, height, width, channels] = shape;
        Images::new(file, height, width, channels, gather(self.array.data(), shape, steps))
    }
}

fn check_count(file: &str, ids: Option<&Vec<String>>, rows: usize) -> Result<(), InputError> {
    match ids {
        Some(ids) if ids.len() != rows => {
            Err(InputError::IdCount { file: file.to_owned(), ids: ids.len(), rows })
        }
        _ => Ok(()),
    }
}

fn refuse_layout(
    file: &str,
    format: &'static str,
    options: &ReadOptions,
) -> Result<(), InputError> {
    match options.layout {
        Some(_) => Err(InputError::Inapplicable {
            file: file.to_owned(),
            format,
            option: ReadOption::Layout,
        }),
        None => Ok(()),
    }
}

/// Where the channels are: as the user says, else on the axis that can hold them.
fn layout(file: &str, shape: [usize; 4], options: &ReadOptions) -> Result<Layout, InputError> {
    let [first, last] = [shape[1], shape[3]].map(|axis| matches!(axis, 1 | 3));
    let (file, found) = (file.to_owned(), shape.to_vec());
    match (options.layout, first, last) {
        (Some(Layout::Nhwc), _, true) | (None, false, true) => Ok(Layout::Nhwc),
        (Some(Layout::Nchw), true, _) | (None, true, false) => Ok(Layout::Nchw),
        (None, true, true) => Err(InputError::Ambiguous { file, shape: found }),
        _ => Err(InputError::Shape { file, shape: found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes;

    use super::super::npy_bytes as npy;

    fn read(bytes: &[u8], layout: Option<Layout>) -> Result<Inputs, InputError> {
        read_bytes("x.npy", bytes.to_vec(), &ReadOptions { layout, ..ReadOptions::default() })
    }

    fn images(bytes: &[u8], layout: Option<Layout>) -> ([usize; 4], Vec<u8>) {
        let inputs = read(bytes, layout).unwrap();
        let Kind::Images(images) = inputs.kind() else { panic!("images") };
        let shape = [images.len(), images.height(), images.width(), images.channels()];
        (shape, images.pixels().to_vec())
    }

    #[test]
    fn images_in_every_layout() {
        let data: Vec<u8> = (0..24).collect();
        let straight = images(&npy("|u1", &[2, 2, 2, 3], &data), None);
        assert_eq!(straight, ([2, 2, 2, 3], data.clone()));
        assert_eq!(images(&npy("|u1", &[2, 4, 3], &data), None), ([2, 4, 3, 1], data.clone()));
        let planes = images(&npy("|u1", &[2, 3, 2, 2], &data), None);
        assert_eq!(planes.0, [2, 2, 2, 3]);
        assert_eq!(planes.1[..6], [0, 4, 8, 1, 5, 9]);
        assert_eq!(planes.1[12..15], [12, 16, 20]);
        // The same images, the first axis the fastest.
        let mut fortran = npy("|u1", &[2, 2, 2, 3], &[]);
        let at = fortran.windows(5).position(|w| w == b"False").unwrap();
        fortran.splice(at..at + 5, *b"True ");
        for place in 0..24usize {
            let [n, h, w, c] = [place % 2, place / 2 % 2, place / 4 % 2, place / 8];
            fortran.push((n * 12 + h * 6 + w * 3 + c) as u8);
        }
        assert_eq!(images(&fortran, None), straight);
    }

    #[test]
    fn an_ambiguous_layout_must_be_said() {
        let bytes = npy("|u1", &[1, 3, 2, 3], &(0..18).collect::<Vec<u8>>());
        let error = read(&bytes, None).unwrap_err().to_string();
        assert!(error.contains("layout = \"nhwc\" or \"nchw\""), "{error}");
        assert_eq!(images(&bytes, Some(Layout::Nhwc)).0, [1, 3, 2, 3]);
        assert_eq!(images(&bytes, Some(Layout::Nchw)).1[..3], [0, 6, 12]);
        let neither = npy("|u1", &[1, 2, 2, 2], &[0; 8]);
        assert!(matches!(read(&neither, None), Err(InputError::Shape { .. })));
        let wrong = npy("|u1", &[1, 2, 2, 3], &[0; 12]);
        assert!(matches!(read(&wrong, Some(Layout::Nchw)), Err(InputError::Shape { .. })));
        let vectors = npy("|u1", &[2, 2], &[0; 4]);
        let error = read(&vectors, Some(Layout::Nhwc)).unwrap_err();
        assert!(
            matches!(error, InputError::Inapplicable { option: ReadOption::Layout, .. }),
            "{error}"
        );
    }

    #[test]
    fn feature_vectors_of_every_number_type() {
        let values = |bytes: Vec<u8>| {
            let inputs = read(&bytes, None).unwrap();
            let Kind::Features(features) = inputs.kind() else { panic!("features") };
            (features.width(), features.values().to_vec())
        };
        let floats: Vec<u8> = [0.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(values(npy("<f4", &[1, 2], &floats)), (2, vec![0.5, -2.0]));
        let doubles: Vec<u8> = [0.1f64, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(values(npy("<f8", &[2, 1], &doubles)), (1, vec![0.1, 3.0]));
        assert_eq!(values(npy("<f2", &[1, 2], &[0, 0x3c, 0, 0xc0])), (2, vec![1.0, -2.0]));
        assert_eq!(values(npy("<i2", &[1, 2], &[1, 0, 0xff, 0xff])), (2, vec![1.0, -1.0]));
        assert_eq!(values(npy("|u1", &[1, 2], &[7, 255])), (2, vec![7.0, 255.0]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |bytes: Vec<u8>| read(&bytes, None).unwrap_err().to_string();
        let bad: Vec<u8> = [1.0f64, 2.0, 3.0, 1e300].iter().flat_map(|v| v.to_le_bytes()).collect();
        let message = error(npy("<f8", &[2, 2], &bad));
        assert!(message.starts_with("x.npy, row 1, column \"1\": 1"), "{message}");
        assert!(message.contains("is not a finite 32-bit float"), "{message}");
        let message = error(npy("<f4", &[1, 2, 2, 3], &[0; 48]));
        assert!(
            message.contains("uint8, 0 to 255), found float32 of shape [1, 2, 2, 3]"),
            "{message}"
        );
        assert!(error(npy("<f4", &[4], &[0; 16])).contains("found the shape [4]"));
        assert!(error(npy("|u1", &[0, 2, 2], &[])).contains("found the shape [0, 2, 2]"));
        // A header's word is not enough to make an array.
        let message = error(npy("|u1", &[1 << 40, 32, 32, 3], &[0; 99]));
        assert!(message.contains("the file has 99"), "{message}");
        let mut options = ReadOptions::default();
        options.limits.cells = 10;
        let error = read_bytes("x", npy("|u1", &[1, 2, 2, 3], &[0; 12]), &options).unwrap_err();
        assert!(error.to_string().contains("12 values are more than the limit of 10"), "{error}");
    }
}
