//! Rows of bits as lines of numbers, one line for each lane.

#[cfg(feature = "simd")]
use multiversion::multiversion;

use crate::propnet::batch::transpose;
use crate::propnet::lanes::Rows;

/// By 64 rows and lane of a word: the bits of the lane.
pub(super) fn transpose_all(rows: usize, squares: &mut Vec<[u64; 64]>, row: impl Fn(usize) -> u64) {
    squares.resize(rows.div_ceil(64), [0; 64]);
    for (place, square) in squares.iter_mut().enumerate() {
        let count = (rows - 64 * place).min(64);
        for (line, bits) in square[..count].iter_mut().enumerate() {
            *bits = row(64 * place + line);
        }
        square[count..].fill(0);
        transpose(square);
    }
}

/// Writes the bits of all rows, as numbers by the table, to the lines of the lanes. A line has an
/// entry for each row.
#[inline(always)]
pub(super) fn write_lines<T: Copy>(
    table: &[[T; 8]; 256],
    rows: usize,
    lines: &mut [T],
    row: impl Fn(usize, usize) -> u64,
) {
    let mut squares = Vec::new();
    for word in 0..lines.len().div_ceil(64 * rows) {
        transpose_all(rows, &mut squares, |at| row(at, word));
        let first = 64 * rows * word;
        let end = lines.len().min(first + 64 * rows);
        for lane in 0..(end - first) / rows {
            let line = &mut lines[first + rows * lane..][..rows];
            let (whole, rest) = line.as_chunks_mut::<64>();
            for (place, numbers) in whole.iter_mut().enumerate() {
                write_bits(table, squares[place][lane], numbers);
            }
            if let Some(square) = squares.get(whole.len()) {
                write_bits(table, square[lane], rest);
            }
        }
    }
}

/// [`write_lines`] for numbers of four bytes.
#[cfg_attr(feature = "simd", multiversion(targets("x86_64+avx2")))]
pub(super) fn write_floats(rows: &Rows, lines: &mut [f32]) {
    let (flat, words) = (rows.flat(), rows.words());
    write_lines(&FLOATS, rows.len(), lines, |row, word| {
        flat[row * words + word]
    });
}

/// By byte: its bits as numbers.
macro_rules! spread {
    ($number:ty) => {{
        let mut all = [[0 as $number; 8]; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut bit = 0;
            while bit < 8 {
                all[byte][bit] = (byte >> bit & 1) as $number;
                bit += 1;
            }
            byte += 1;
        }
        all
    }};
}

static FLOATS: [[f32; 8]; 256] = spread!(f32);
pub(super) static BYTES: [[u8; 8]; 256] = spread!(u8);

/// Writes bits as numbers, by a table of those of a byte.
#[inline(always)]
fn write_bits<T: Copy>(table: &[[T; 8]; 256], bits: u64, line: &mut [T]) {
    let of = |first: usize| &table[(bits >> first & 0xFF) as usize];
    let (count, (whole, rest)) = (line.len(), line.as_chunks_mut::<8>());
    for (place, numbers) in whole.iter_mut().enumerate() {
        *numbers = *of(8 * place);
    }
    if rest.is_empty() {
        return;
    }
    match line.last_chunk_mut::<8>() {
        Some(last) => *last = *of(count - 8),
        None => line.copy_from_slice(&of(0)[..count]),
    }
}
