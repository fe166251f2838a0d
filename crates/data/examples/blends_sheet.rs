//! Draws images of the generated data set `blends` as one large grey image (PGM), a row for each
//! glyph, from hardly any ambiguity on the left to much on the right:
//!
//! ```text
//! cargo run -p dissensus-data --example blends_sheet -- blends.pgm
//! ```

use std::error::Error;

use dissensus_data::blends::{CLASSES, Generator, SIDE, Settings};

const COLUMNS: usize = 12;
/// Pixels of the sheet for a pixel of an image.
const ZOOM: usize = 4;
const CELL: usize = (SIDE + 2) * ZOOM;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name the file to write, such as blends.pgm")?;
    let width = COLUMNS * CELL;
    let mut sheet = vec![255u8; width * CLASSES * CELL];
    for column in 0..COLUMNS {
        let ambiguity = (column as f64 + 0.5) / COLUMNS as f64;
        let generator = Generator::new(Settings { ambiguity, ..Settings::default() }.check()?);
        for class in 0..CLASSES {
            // Another image of the class in every column.
            let mut of_class =
                (0..).map(|i| generator.item(i)).filter(|i| i.blend.major as usize == class);
            let Some(item) = of_class.nth(column) else { continue };
            for y in 0..SIDE * ZOOM {
                for x in 0..SIDE * ZOOM {
                    let at = (class * CELL + ZOOM + y) * width + column * CELL + ZOOM + x;
                    sheet[at] = item.image[y / ZOOM * SIDE + x / ZOOM];
                }
            }
        }
    }
    let mut bytes = format!("P5\n{width} {}\n255\n", CLASSES * CELL).into_bytes();
    bytes.append(&mut sheet);
    Ok(std::fs::write(path, bytes)?)
}
