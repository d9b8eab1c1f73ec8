//! Text files that are not rules, read as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};

use crate::rule_files::refuse_other_encodings;

/// The greatest size of such a file in bytes: far more than any that is meant.
const MOST_BYTES: u64 = 1 << 28;

/// The text of a file.
///
/// # Errors
///
/// If it cannot be read, is not UTF-8, or has more than 256 MB.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let bytes = read_bytes(&file, &name.to_string())?;
    refuse_other_encodings(path, &bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{name} is not UTF-8 from byte {at} on")
    })
}

/// The bytes of an open file with this name.
///
/// # Errors
///
/// If it cannot be read or has more than 256 MB.
pub fn read_bytes(file: &File, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read: io::Result<usize> = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        let what = match file.metadata().is_ok_and(|known| known.is_file()) {
            true => "",
            false => "is not a file, and ",
        };
        bail!("{name} {what}has more than {} MB", MOST_BYTES >> 20);
    }
    Ok(bytes)
}
