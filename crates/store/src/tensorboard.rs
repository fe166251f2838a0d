//! Event files for TensorBoard: scalars over steps.
//!
//! A file is a row of records. A record is the length n of its data (8 bytes, little endian), a
//! checksum of those 8 bytes, the data, and a checksum of the data. The checksum is CRC-32C,
//! turned right by 15 bits, plus 0xa282ead8. The data is a protocol buffer:
//!
//! ```text
//! Event   { 1: wall_time f64, 2: step i64, 3: file_version text, 5: Summary }
//! Summary { 1: Value, … }
//! Value   { 1: tag text, 2: simple_value f32 }
//! ```
//!
//! The first event carries `file_version`, the others a summary of one value.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::{StoreError, files};

/// The version that all event files of today have.
const VERSION: &str = "brain.Event:2";

/// Writes an event file, record after record: a file that is cut by a kill is read up to there.
#[derive(Debug)]
pub struct EventWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl EventWriter {
    /// As [`create`](Self::create), and removes what this wrote there before.
    pub fn afresh(dir: &Path) -> Result<Self, StoreError> {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("events.out.tfevents.") && name.contains(".dissensus.") {
                let path = entry.path();
                fs::remove_file(&path).map_err(|error| StoreError::io("removing", &path, error))?;
            }
        }
        Self::create(dir)
    }

    /// Begins a new event file in a folder, which is made where it is not there.
    pub fn create(dir: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(dir).map_err(|error| StoreError::io("making", dir, error))?;
        let (seconds, process) = (files::now(), std::process::id());
        let mut number = 0;
        let (path, file) = loop {
            // TensorBoard knows the files by `tfevents` and reads them in order of their names.
            let path =
                dir.join(format!("events.out.tfevents.{seconds:010}.dissensus.{process}.{number}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(StoreError::io("making", &path, error)),
            }
        };
        let mut writer = Self { path, out: BufWriter::new(file) };
        let mut event = Vec::new();
        field_f64(&mut event, 1, seconds as f64);
        field_bytes(&mut event, 3, VERSION.as_bytes());
        writer.record(&event)?;
        writer.flush()?;
        Ok(writer)
    }

    /// Adds a value of `tag` at a step (an epoch, say); the time is in seconds since 1970.
    pub fn scalar(
        &mut self,
        tag: &str,
        step: u64,
        wall_time: f64,
        value: f32,
    ) -> Result<(), StoreError> {
        self.record(&scalar_event(tag, step, wall_time, value))
    }

    /// Lets TensorBoard see what was added so far.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.out.flush().map_err(|error| StoreError::io("writing", &self.path, error))
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.flush()
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn record(&mut self, data: &[u8]) -> Result<(), StoreError> {
        self.out
            .write_all(&frame(data))
            .map_err(|error| StoreError::io("writing", &self.path, error))
    }
}

fn scalar_event(tag: &str, step: u64, wall_time: f64, value: f32) -> Vec<u8> {
    let mut scalar = Vec::new();
    field_bytes(&mut scalar, 1, tag.as_bytes());
    key(&mut scalar, 2, 5);
    scalar.extend(value.to_le_bytes());
    let mut summary = Vec::new();
    field_bytes(&mut summary, 1, &scalar);
    let mut event = Vec::new();
    field_f64(&mut event, 1, wall_time);
    key(&mut event, 2, 0);
    varint(&mut event, step);
    field_bytes(&mut event, 5, &summary);
    event
}

fn frame(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(data.len() + 16);
    record.extend(length);
    record.extend(masked(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked(data).to_le_bytes());
    record
}

fn masked(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Seven bits a byte, the lowest first; the top bit says that more come.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn key(out: &mut Vec<u8>, field: u64, wire: u64) {
    varint(out, field << 3 | wire);
}

fn field_f64(out: &mut Vec<u8>, field: u64, value: f64) {
    key(out, field, 1);
    out.extend(value.to_le_bytes());
}

fn field_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    key(out, field, 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python 3.11, with the checksum bit by bit:
    ///
    /// ```python
    /// import struct
    /// def crc32c(data):
    ///     crc = 0xFFFFFFFF
    ///     for byte in data:
    ///         crc ^= byte
    ///         for _ in range(8): crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    ///     return crc ^ 0xFFFFFFFF
    /// def masked(data):
    ///     crc = crc32c(data)
    ///     return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    /// value = b"\x0a\x04loss\x15" + struct.pack("<f", 0.25)
    /// summary = b"\x0a" + bytes([len(value)]) + value
    /// event = b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02"
    /// event += b"\x2a" + bytes([len(summary)]) + summary
    /// length = struct.pack("<Q", len(event))
    /// print(hex(crc32c(b"123456789")))
    /// print((length + masked(length) + event + masked(event)).hex())
    /// ```
    #[test]
    fn a_record_is_as_python_makes_it() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        let record = frame(&scalar_event("loss", 300, 1.5, 0.25));
        let hex: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "1b000000000000001a0d9e1309000000000000f83f10ac022a0d0a0b0a046c6f7373150000803e9908deed"
        );
    }

    /// A reader of our own: (wall time, step, version, tag, value) of every event.
    type Event = (f64, u64, String, String, f32);

    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn take<'a>(bytes: &mut &'a [u8], n: usize) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(n);
        *bytes = rest;
        taken
    }

    fn read_message(mut bytes: &[u8], depth: usize, event: &mut Event) {
        while !bytes.is_empty() {
            let key = number(&mut bytes);
            match (depth, key >> 3, key & 7) {
                (0, 1, 1) => event.0 = f64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap()),
                (0, 2, 0) => event.1 = number(&mut bytes),
                (2, 2, 5) => event.4 = f32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap()),
                (_, field, 2) => {
                    let n = number(&mut bytes) as usize;
                    let inner = take(&mut bytes, n);
                    let text = || String::from_utf8(inner.to_vec()).unwrap();
                    match (depth, field) {
                        (0, 3) => event.2 = text(),
                        (0, 5) | (1, 1) => read_message(inner, depth + 1, event),
                        (2, 1) => event.3 = text(),
                        other => panic!("unexpected field {other:?}"),
                    }
                }
                other => panic!("unexpected field {other:?}"),
            }
        }
    }

    fn read_events(mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            let length = take(&mut bytes, 8);
            assert_eq!(take(&mut bytes, 4), masked(length).to_le_bytes());
            let n = u64::from_le_bytes(length.try_into().unwrap()) as usize;
            let data = take(&mut bytes, n);
            assert_eq!(take(&mut bytes, 4), masked(data).to_le_bytes());
            let mut event = Event::default();
            read_message(data, 0, &mut event);
            events.push(event);
        }
        events
    }

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("events");
        let mut writer = EventWriter::create(&dir).unwrap();
        let long = "é".repeat(100);
        let steps = [0, 1, 127, 128, 1 << 40];
        for (at, step) in steps.into_iter().enumerate() {
            writer.scalar("train/loss", step, 1.7e9 + at as f64, 0.5 / (at as f32 + 1.0)).unwrap();
            writer.scalar(&long, step, 0.0, f32::NEG_INFINITY).unwrap();
        }
        let path = writer.path().to_owned();
        writer.finish().unwrap();
        let events = read_events(&fs::read(&path).unwrap());
        assert_eq!(events.len(), 1 + 2 * steps.len());
        assert_eq!((events[0].2.as_str(), events[0].3.as_str()), ("brain.Event:2", ""));
        for (at, pair) in events[1..].chunks(2).enumerate() {
            let loss = (1.7e9 + at as f64, steps[at], "train/loss", 0.5 / (at as f32 + 1.0));
            assert_eq!((pair[0].0, pair[0].1, pair[0].3.as_str(), pair[0].4), loss);
            assert_eq!((&pair[1].3, pair[1].4), (&long, f32::NEG_INFINITY));
        }
    }

    #[test]
    fn two_writers_of_one_second_have_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let first = EventWriter::create(folder.path()).unwrap();
        let second = EventWriter::create(folder.path()).unwrap();
        assert_ne!(first.path(), second.path());
    }
}
