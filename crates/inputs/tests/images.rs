//! Folders and tables of image files, good and bad.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use dissensus_inputs::{Images, InputError, Inputs, Kind, ReadOptions, read};
use image::{DynamicImage, GrayImage, Luma, Rgb, RgbImage, Rgba, RgbaImage};

/// A grey image whose pixels count up from `start`.
fn grey(width: u32, height: u32, start: u8) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| Luma([start + (y * width + x) as u8]))
}

fn rgb(width: u32, height: u32, color: [u8; 3]) -> RgbImage {
    RgbImage::from_pixel(width, height, Rgb(color))
}

fn default(path: &Path) -> Result<Inputs, InputError> {
    read(path, &ReadOptions::default())
}

fn error(path: &Path) -> String {
    default(path).unwrap_err().to_string()
}

fn ids(inputs: &Inputs) -> Vec<&str> {
    inputs.ids().unwrap().iter().collect()
}

fn images(inputs: &Inputs) -> &Images {
    let Kind::Images(images) = inputs.kind() else { panic!("images") };
    images
}

#[test]
fn a_folder_sorted_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    grey(3, 2, 10).save(at("b.png")).unwrap();
    grey(3, 2, 50).save(at("a.v2.PNG")).unwrap();
    std::fs::write(at(".hidden"), "x").unwrap();
    let inputs = default(folder.path()).unwrap();
    assert_eq!(ids(&inputs), ["a.v2", "b"]);
    let found = images(&inputs);
    assert_eq!((found.height(), found.width(), found.channels()), (2, 3, 1));
    assert_eq!(found.pixels(), [50, 51, 52, 53, 54, 55, 10, 11, 12, 13, 14, 15]);
    assert!(inputs.notes().is_empty());

    // One RGB image makes all RGB; what is no image is left out and said.
    rgb(3, 2, [1, 2, 3]).save(at("c.png")).unwrap();
    std::fs::write(at("readme.txt"), "x").unwrap();
    let inputs = default(folder.path()).unwrap();
    assert_eq!(images(&inputs).channels(), 3);
    assert_eq!(images(&inputs).image(0)[..6], [50, 50, 50, 51, 51, 51]);
    assert_eq!(images(&inputs).image(2)[..3], [1, 2, 3]);
    assert_eq!(
        inputs.notes(),
        [
            "left out, being no PNG or JPEG files: readme.txt",
            "2 grey images among RGB ones, taken as RGB"
        ]
    );
}

#[test]
fn jpeg_files() {
    let folder = tempfile::tempdir().unwrap();
    rgb(16, 8, [200, 40, 90]).save(folder.path().join("a.jpg")).unwrap();
    rgb(16, 8, [10, 240, 30]).save(folder.path().join("b.JPEG")).unwrap();
    let inputs = default(folder.path()).unwrap();
    let near = |found: &[u8], wanted: [u8; 3]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 4), "{found:?}");
    };
    near(&images(&inputs).image(0)[..3], [200, 40, 90]);
    near(&images(&inputs).image(1)[..3], [10, 240, 30]);
    assert_eq!((images(&inputs).height(), images(&inputs).width()), (8, 16));
    // Cut anywhere behind its header, it is not taken for a image.
    let whole = std::fs::read(folder.path().join("a.jpg")).unwrap();
    for end in [whole.len() - 2, whole.len() - 20, whole.len() / 2, 30] {
        std::fs::write(folder.path().join("a.jpg"), &whole[..end]).unwrap();
        let error = error(folder.path());
        assert!(error.contains("a.jpg: not a readable"), "{end}: {error}");
    }
}

#[test]
fn sizes_must_be_one_or_be_made_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    rgb(4, 4, [9, 9, 9]).save(at("a.png")).unwrap();
    rgb(6, 8, [7, 7, 7]).save(at("b.png")).unwrap();
    rgb(5, 5, [7, 7, 7]).save(at("c.png")).unwrap();
    let message = error(folder.path());
    assert!(message.contains("b.png has (8, 6) pixels (height, width)"), "{message}");
    assert!(message.contains("a.png has (4, 4)") && message.contains("resize = "), "{message}");
    let sized = |resize| read(folder.path(), &ReadOptions { resize, ..ReadOptions::default() });
    let inputs = sized(Some([4, 3])).unwrap();
    let found = images(&inputs);
    assert_eq!((found.len(), found.height(), found.width()), (3, 4, 3));
    assert!(found.image(0).iter().all(|v| *v == 9) && found.image(1).iter().all(|v| *v == 7));
    assert_eq!(inputs.notes(), ["3 images brought to 4 × 3 (bilinear)"]);
    assert!(matches!(sized(Some([0, 3])), Err(InputError::Resize { .. })));
    let layout = ReadOptions { key: Some("x".to_owned()), ..ReadOptions::default() };
    let error = read(folder.path(), &layout).unwrap_err();
    assert!(
        matches!(error, InputError::Inapplicable { option: dissensus_io::ReadOption::Key, .. }),
        "{error}"
    );
    let mut small = ReadOptions { resize: Some([4, 4]), ..ReadOptions::default() };
    small.limits.cells = 143;
    let error = read(folder.path(), &small).unwrap_err().to_string();
    assert!(error.contains("144 pixel values are more than the limit of 143"), "{error}");
    // What is made small is decoded whole.
    small.resize = Some([1, 1]);
    let error = read(folder.path(), &small).unwrap_err().to_string();
    assert!(error.contains("144 pixel values are more than the limit of 143"), "{error}");
}

#[test]
fn what_would_be_lost_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("a.png");
    RgbaImage::from_pixel(2, 2, Rgba([5, 6, 7, 255])).save(&at).unwrap();
    assert_eq!(images(&default(folder.path()).unwrap()).image(0)[..3], [5, 6, 7]);
    let mut glass = RgbaImage::from_pixel(2, 2, Rgba([5, 6, 7, 255]));
    glass.put_pixel(1, 1, Rgba([5, 6, 7, 254]));
    glass.save(&at).unwrap();
    assert!(error(folder.path()).contains("a.png has transparent pixels"));
    DynamicImage::new_luma16(2, 2).save(&at).unwrap();
    assert!(error(folder.path()).contains("a.png has more than 8 bits a value"));
}

#[test]
fn unreadable_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(error(folder.path()).contains("found an empty folder"));
    std::fs::create_dir(at("cat")).unwrap();
    assert!(error(folder.path()).contains("found cat (images in folders inside it"));
    grey(40, 40, 0).save(at("a.png")).unwrap();
    std::fs::write(at("b.png"), "no image").unwrap();
    assert!(error(folder.path()).contains("b.png: not a readable PNG or JPEG file"));
    let whole = std::fs::read(at("a.png")).unwrap();
    std::fs::write(at("b.png"), &whole[..whole.len() - 30]).unwrap();
    assert!(error(folder.path()).contains("b.png: not a readable PNG or JPEG file"));
    // A header that claims 2³¹ − 1 rows, with the checksum of its claim.
    let mut bomb = whole.clone();
    bomb[20..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    let crc = crc32(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    std::fs::write(at("b.png"), &bomb).unwrap();
    let message = error(folder.path());
    assert!(message.contains("b.png: not a readable") && message.contains("limit"), "{message}");
    std::fs::write(at("b.png"), &whole).unwrap();
    std::fs::copy(at("a.png"), at("a.jpg")).unwrap();
    let message = error(folder.path());
    assert!(message.contains("a.jpg and a.png have the same id \"a\""), "{message}");
    assert!(error(&at("missing")).contains("missing"));
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}

#[test]
fn a_table_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("sub")).unwrap();
    grey(2, 1, 10).save(at("sub/one.png")).unwrap();
    grey(2, 1, 20).save(at("two.png")).unwrap();
    let table = at("images.csv");
    std::fs::write(&table, "id,file,label\nx,two.png,0\ny,sub/one.png,1\n").unwrap();
    let inputs = default(&table).unwrap();
    assert_eq!(ids(&inputs), ["x", "y"]);
    assert_eq!(images(&inputs).pixels(), [20, 21, 10, 11]);
    assert_eq!(inputs.notes(), ["columns left out: label"]);

    // Without an id column the file's name is the id, and that is said.
    std::fs::write(&table, "image\nsub/one.png\ntwo.png\n").unwrap();
    let inputs = default(&table).unwrap();
    assert_eq!(ids(&inputs), ["one", "two"]);
    assert_eq!(inputs.notes(), ["ids are the file names without their endings"]);

    std::fs::write(&table, "who,what\nx,two.png\nx,sub/one.png\n").unwrap();
    let named = |file: &str| ReadOptions {
        file: Some(file.to_owned()),
        id: Some("who".to_owned()),
        ..ReadOptions::default()
    };
    let error = read(&table, &named("what")).unwrap_err().to_string();
    assert!(error.contains("row 2 and row 3 have the same id \"x\""), "{error}");
    let error = read(&table, &named("wat")).unwrap_err().to_string();
    assert!(error.contains("no column \"wat\" (option `file`)"), "{error}");
    std::fs::write(&table, "who,what\nx,two.png\ny,gone.png\n").unwrap();
    let error = read(&table, &named("what")).unwrap_err().to_string();
    assert!(error.contains("gone.png: "), "{error}");
    std::fs::write(&table, "who,what\nx,two.png\ny,\n").unwrap();
    let error = read(&table, &named("what")).unwrap_err().to_string();
    assert!(error.contains("an empty cell in row 3"), "{error}");
}

#[test]
fn options_as_a_study_writes_them() {
    let parse = |text: &str| serde_json::from_str::<ReadOptions>(text);
    let options = parse(r#"{"layout": "nchw", "resize": [32, 16], "skip": ["a"]}"#).unwrap();
    assert_eq!(options.layout, Some(dissensus_inputs::Layout::Nchw));
    assert_eq!((options.resize, options.skip.len()), (Some([32, 16]), 1));
    assert!(parse(r#"{"layuot": "nchw"}"#).is_err());
}

/// EXIF data that say one thing: how the image is turned.
fn exif(orientation: u8) -> Vec<u8> {
    [&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..], &[orientation, 0, 0, 0], &[0; 4]]
        .concat()
}

#[test]
fn images_are_turned_as_their_exif_data_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let mut png = std::io::Cursor::new(Vec::new());
    grey(3, 2, 10).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let png = png.into_inner();
    let with = |at: usize, orientation: u8| {
        let exif = exif(orientation);
        let body = [b"eXIf", &exif[..]].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&body);
        let chunk =
            [&(exif.len() as u32).to_be_bytes()[..], &body, &sum.sum().to_be_bytes()].concat();
        [&png[..at], &chunk, &png[at..]].concat()
    };
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let inputs = default(folder.path()).unwrap();
        let found = images(&inputs);
        (found.height(), found.width(), found.pixels().to_vec(), inputs.notes().to_vec())
    };
    let (upright, none) = (vec![10, 11, 12, 13, 14, 15], Vec::<String>::new());
    assert_eq!(read(&png), (2, 3, upright.clone(), none.clone()));
    let note = vec!["1 images turned as their EXIF data say".to_owned()];
    // Before and behind the pixels.
    for at in [33, png.len() - 12] {
        assert_eq!(read(&with(at, 1)), (2, 3, upright.clone(), none.clone()));
        assert_eq!(read(&with(at, 3)), (2, 3, vec![15, 14, 13, 12, 11, 10], note.clone()));
        assert_eq!(read(&with(at, 6)), (3, 2, vec![13, 10, 14, 11, 15, 12], note.clone()));
        assert_eq!(read(&with(at, 8)), (3, 2, vec![12, 15, 11, 14, 10, 13], note.clone()));
    }
    // As a camera writes it.
    std::fs::remove_file(&path).unwrap();
    let path = folder.path().join("b.jpg");
    let mut left = rgb(32, 16, [0, 0, 0]);
    (0..16).for_each(|y| (0..16).for_each(|x| left.put_pixel(x, y, Rgb([255, 255, 255]))));
    left.save(&path).unwrap();
    let jpeg = std::fs::read(&path).unwrap();
    let body = [b"Exif\0\0", &exif(6)[..]].concat();
    let length = (body.len() as u16 + 2).to_be_bytes();
    let turned = [&jpeg[..2], b"\xff\xe1", &length, &body, &jpeg[2..]].concat();
    std::fs::write(&path, turned).unwrap();
    let inputs = default(folder.path()).unwrap();
    let found = images(&inputs);
    assert_eq!((found.height(), found.width()), (32, 16));
    let (top, bottom) = (found.pixels()[0], *found.pixels().last().unwrap());
    assert!(top > 250 && bottom < 5, "{top} {bottom}");
}

/// A profile may unpack to a gigabyte, so none is looked at.
#[test]
fn a_profile_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut png = std::io::Cursor::new(Vec::new());
    grey(3, 2, 10).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let png = png.into_inner();
    let body = [&b"iCCPp\0\0"[..], b"not even zlib"].concat();
    let mut sum = flate2::Crc::new();
    sum.update(&body);
    let length = (body.len() as u32 - 4).to_be_bytes();
    let chunk = [&length[..], &body, &sum.sum().to_be_bytes()].concat();
    std::fs::write(folder.path().join("a.png"), [&png[..33], &chunk, &png[33..]].concat()).unwrap();
    assert_eq!(images(&default(folder.path()).unwrap()).pixels(), [10, 11, 12, 13, 14, 15]);
}
