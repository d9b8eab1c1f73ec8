//! The rows of one relation, with the indexes that plans use.
//!
//! Rows are stored in insertion order and numbered from 0, so the rows added during a
//! period are a range of numbers. Emptying a relation takes no time per row: slots
//! store the epoch in which they were written.

use crate::terms::TermId;

/// The number that denotes no row.
pub(super) const NONE: u32 = u32::MAX;

/// Maximum width of a key, in bits, that is looked up in a plain array. Above the
/// second width, an array is used only if the relation has enough rows, one for the
/// given number of array entries.
const MAX_DENSE_BITS: u32 = 20;
const SPARSE_BITS: u32 = 12;
const SPARSE: usize = 64;

/// The rows of a relation.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    arity: usize,
    /// The rows, each with `arity` values.
    values: Vec<TermId>,
    count: u32,
    epoch: u16,
    columns: Vec<Column>,
    /// The indexes. The first has all columns; it finds existing rows.
    indexes: Vec<Index>,
    /// By row: the lanes that have it, if there are lanes.
    lanes: Vec<u64>,
}

/// Numbers the values that occur in a column, in order of first occurrence.
#[derive(Clone, Debug, Default)]
struct Column {
    /// By term: its number, or [`NONE`] if it never occurred in this column.
    number: Vec<u32>,
    used: u32,
    /// Number of bits that are enough for all numbers.
    bits: u32,
}

impl Column {
    #[inline]
    fn number_of(&self, value: TermId) -> u32 {
        self.number.get(value.index()).copied().unwrap_or(NONE)
    }
}

/// Finds rows by the values of some columns: the newest such row, and from each row
/// the next older one.
#[derive(Clone, Debug)]
struct Index {
    columns: Box<[u16]>,
    /// The shift of each column's number in the key; `None` if the key is too wide
    /// for an array.
    shifts: Option<Box<[u32]>>,
    /// Epoch, some bits of the hash if the key is hashed, and in the lower half the
    /// row.
    slots: Vec<u64>,
    /// By row: the next older row with the same key.
    older: Vec<u32>,
    /// Rows below this number are in the index.
    built: u32,
    /// Number of slots in use, for hashed keys.
    used: usize,
}

impl Relation {
    pub fn new(arity: usize) -> Self {
        let mut relation = Relation {
            arity,
            values: Vec::new(),
            count: 0,
            epoch: 1,
            columns: vec![Column::default(); arity],
            indexes: Vec::new(),
            lanes: Vec::new(),
        };
        if arity > 0 {
            relation.index_on(&(0..arity as u16).collect::<Vec<_>>());
        }
        relation
    }

    /// Number of rows.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Number of different values that a column has ever had.
    pub fn distinct(&self, column: usize) -> usize {
        self.columns[column].used as usize
    }

    #[inline]
    pub fn row(&self, row: u32) -> &[TermId] {
        &self.values[row as usize * self.arity..][..self.arity]
    }

    pub fn rows(&self) -> impl Iterator<Item = &[TermId]> {
        (0..self.count).map(|row| self.row(row))
    }

    /// Removes all rows.
    #[inline]
    pub fn clear(&mut self) {
        if self.count == 0 {
            return;
        }
        self.count = 0;
        self.values.clear();
        self.lanes.clear();
        if self.epoch == u16::MAX {
            self.epoch = 0;
            for index in &mut self.indexes {
                index.slots.fill(0);
            }
        }
        self.epoch += 1;
        for index in &mut self.indexes {
            index.built = 0;
            index.used = 0;
            index.older.clear();
        }
    }

    /// The bytes that the rows and their indexes keep, with room for more.
    pub fn bytes(&self) -> usize {
        let columns = self.columns.iter();
        let numbers: usize = columns.map(|column| 4 * column.number.capacity()).sum();
        let indexes = self.indexes.iter();
        let indexes = indexes.map(|index| 8 * index.slots.capacity() + 4 * index.older.capacity());
        let values = 4 * self.values.capacity() + 8 * self.lanes.capacity();
        values + numbers + indexes.sum::<usize>()
    }

    /// The number of the index on these columns, created if necessary.
    pub fn index_on(&mut self, columns: &[u16]) -> usize {
        if let Some(known) = self.indexes.iter().position(|i| *i.columns == *columns) {
            return known;
        }
        let mut index = Index {
            columns: columns.into(),
            shifts: None,
            slots: Vec::new(),
            older: Vec::new(),
            built: 0,
            used: 0,
        };
        index.lay_out(&self.columns, self.count);
        self.indexes.push(index);
        self.indexes.len() - 1
    }

    /// Drops all indexes except the first.
    pub fn drop_indexes(&mut self) {
        self.indexes.truncate(1);
    }

    /// Adds a row that is known to be new. The indexes are updated by the next
    /// `catch_up`.
    #[inline]
    pub fn push(&mut self, row: &[TermId]) {
        self.number_values(row);
        self.values.extend_from_slice(row);
        self.count += 1;
    }

    /// Adds a row; returns false if it exists.
    #[inline]
    pub fn insert(&mut self, row: &[TermId]) -> bool {
        if self.arity == 0 {
            let is_new = self.count == 0;
            self.count = 1;
            return is_new;
        }
        self.number_values(row);
        self.catch_up(0);
        if self.indexes[0].shifts.is_none() {
            self.make_room(0);
        }
        let (own, next) = (self.epoch, self.count);
        let (slot, tag) = match &self.indexes[0].shifts {
            Some(shifts) => {
                let columns = self.columns.iter().zip(shifts).zip(row);
                let code = columns
                    .map(|((column, &shift), &value)| (column.number_of(value) as usize) << shift);
                let slot = code.sum();
                if epoch(self.indexes[0].slots[slot]) == own {
                    return false;
                }
                (slot, 0)
            }
            None => match self.probe(&self.indexes[0], row) {
                Ok(_) => return false,
                Err(free) => (free, tag(hash(row))),
            },
        };
        self.values.extend_from_slice(row);
        self.count += 1;
        let index = &mut self.indexes[0];
        index.slots[slot] = entry(own, tag, next);
        index.older.push(NONE);
        index.built += 1;
        index.used += 1;
        true
    }

    /// Puts all rows into all lanes.
    pub fn in_all_lanes(&mut self) {
        self.lanes.clear();
        self.lanes.resize(self.count as usize, u64::MAX);
    }

    /// The lanes that have a row; all, for a relation without lanes.
    #[inline]
    pub fn row_lanes(&self, row: u32) -> u64 {
        self.lanes.get(row as usize).copied().unwrap_or(u64::MAX)
    }

    /// Adds a row that is known to be new, in some lanes.
    pub fn push_lanes(&mut self, row: &[TermId], lanes: u64) {
        self.push(row);
        self.lanes.push(lanes);
    }

    /// Adds a row in some lanes. Returns the row, and the lanes that did not have it.
    pub fn insert_lanes(&mut self, row: &[TermId], lanes: u64) -> (u32, u64) {
        if self.insert(row) {
            self.lanes.push(lanes);
            return (self.count - 1, lanes);
        }
        let at = match self.arity {
            0 => 0,
            _ => self.find(0, row),
        };
        let known = &mut self.lanes[at as usize];
        let added = lanes & !*known;
        *known |= lanes;
        (at, added)
    }

    /// True if the relation contains a row. The first index must be up to date.
    #[cfg(test)]
    fn contains(&self, row: &[TermId]) -> bool {
        if self.arity == 0 {
            return self.count > 0;
        }
        self.find(0, row) != NONE
    }

    /// Brings an index up to date.
    #[inline]
    pub fn catch_up(&mut self, index: usize) {
        if self.arity > 0 && self.indexes[index].built < self.count {
            self.extend_index(index);
        }
    }

    /// The newest row whose values in the index's columns equal the key, or [`NONE`].
    /// The index must be up to date.
    #[inline]
    pub fn find(&self, index: usize, key: &[TermId]) -> u32 {
        let index = &self.indexes[index];
        let slot = match &index.shifts {
            Some(shifts) => {
                let mut code = 0;
                for ((&column, &shift), &value) in index.columns.iter().zip(shifts).zip(key) {
                    let number = self.columns[column as usize].number_of(value);
                    if number == NONE {
                        return NONE;
                    }
                    code |= (number as usize) << shift;
                }
                code
            }
            None => match self.probe(index, key) {
                Ok(slot) => slot,
                Err(_) => return NONE,
            },
        };
        row_in(index.slots[slot], self.epoch)
    }

    /// The next older row with the same key, or [`NONE`].
    #[inline]
    pub fn older(&self, index: usize, row: u32) -> u32 {
        self.indexes[index].older[row as usize]
    }

    /// Numbers each value of a row in its column.
    #[inline]
    fn number_values(&mut self, row: &[TermId]) {
        for (column, &value) in row.iter().enumerate() {
            if self.columns[column].number_of(value) == NONE {
                self.number_value(column, value);
            }
        }
    }

    #[cold]
    fn number_value(&mut self, column: usize, value: TermId) {
        let entry = &mut self.columns[column];
        if entry.number.len() <= value.index() {
            entry.number.resize(value.index() + 1, NONE);
        }
        entry.number[value.index()] = entry.used;
        entry.used += 1;
        if entry.used > 1 << entry.bits {
            entry.bits += 1;
            for index in &mut self.indexes {
                if index.columns.contains(&(column as u16)) {
                    index.lay_out(&self.columns, self.count);
                }
            }
        }
    }

    fn extend_index(&mut self, number: usize) {
        let Index {
            columns,
            shifts,
            slots,
            older,
            built,
            ..
        } = &mut self.indexes[number];
        let Some(shifts) = shifts else {
            return self.extend_hashed_index(number);
        };
        let rows = self.values[*built as usize * self.arity..].chunks_exact(self.arity);
        for (row, values) in (*built..self.count).zip(rows) {
            let mut slot = 0;
            for (&column, &shift) in columns.iter().zip(&**shifts) {
                let column = column as usize;
                slot |= (self.columns[column].number_of(values[column]) as usize) << shift;
            }
            let last = std::mem::replace(&mut slots[slot], entry(self.epoch, 0, row));
            older.push(row_in(last, self.epoch));
        }
        *built = self.count;
    }

    fn extend_hashed_index(&mut self, number: usize) {
        let mut key = Vec::with_capacity(self.indexes[number].columns.len());
        while self.indexes[number].built < self.count {
            let row = self.indexes[number].built;
            self.make_room(number);
            let index = &self.indexes[number];
            let values = self.row(row);
            key.clear();
            key.extend(index.columns.iter().map(|&c| values[c as usize]));
            let slot = self.probe(index, &key);
            let index = &mut self.indexes[number];
            index.used += usize::from(slot.is_err());
            let (Ok(slot) | Err(slot)) = slot;
            let new = entry(self.epoch, tag(hash(&key)), row);
            let last = std::mem::replace(&mut index.slots[slot], new);
            index.older.push(row_in(last, self.epoch));
            index.built += 1;
        }
    }

    /// The slot of a key, or the free slot for it.
    fn probe(&self, index: &Index, key: &[TermId]) -> Result<usize, usize> {
        let mask = index.slots.len() - 1;
        let hash = hash(key);
        let mut slot = hash as usize & mask;
        let marked = u32::from(self.epoch) << 16 | u32::from(tag(hash));
        loop {
            let entry = index.slots[slot];
            if epoch(entry) != self.epoch {
                return Err(slot);
            }
            if (entry >> 32) as u32 == marked {
                let row = self.row(entry as u32);
                let mut columns = index.columns.iter().zip(key);
                if columns.all(|(&column, value)| row[column as usize] == *value) {
                    return Ok(slot);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Doubles the size of a hashed index that is half full.
    fn make_room(&mut self, number: usize) {
        let index = &mut self.indexes[number];
        if index.used * 2 < index.slots.len() {
            return;
        }
        let slots = (index.slots.len() * 2).max(16);
        index.slots.clear();
        index.slots.resize(slots, 0);
        index.older.clear();
        index.used = 0;
        let built = std::mem::replace(&mut index.built, 0);
        // Inserted again, with room for all rows that were in the index.
        let count = std::mem::replace(&mut self.count, built);
        self.extend_index(number);
        self.count = count;
    }
}

impl Index {
    /// Chooses array or hashing by the width of the key. Then removes all rows,
    /// unless the index was hashed and stays so.
    fn lay_out(&mut self, columns: &[Column], rows: u32) {
        let mut shift = 0;
        let mut shifts = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            shifts.push(shift);
            shift += columns[column as usize].bits;
        }
        let many = || rows as usize * SPARSE >= 1 << shift;
        let dense = shift <= SPARSE_BITS || shift <= MAX_DENSE_BITS && many();
        if !dense && self.shifts.is_none() && !self.slots.is_empty() {
            return;
        }
        self.shifts = dense.then(|| shifts.into());
        self.slots.clear();
        self.slots.resize(if dense { 1 << shift } else { 16 }, 0);
        self.older.clear();
        self.built = 0;
        self.used = 0;
    }
}

#[inline]
fn entry(epoch: u16, tag: u16, row: u32) -> u64 {
    u64::from(epoch) << 48 | u64::from(tag) << 32 | u64::from(row)
}

/// The row in a slot, if it was written in the epoch.
#[inline]
fn row_in(slot: u64, current: u16) -> u32 {
    if epoch(slot) == current {
        slot as u32
    } else {
        NONE
    }
}

#[inline]
fn epoch(slot: u64) -> u16 {
    (slot >> 48) as u16
}

/// Bits of a hash that do not determine the slot.
#[inline]
fn tag(hash: u64) -> u16 {
    (hash >> 48) as u16
}

#[inline]
fn hash(key: &[TermId]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = ODD;
    for value in key {
        hash = (hash ^ u64::from(value.raw())).wrapping_mul(ODD);
        hash ^= hash >> 32;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[u32]) -> Vec<TermId> {
        values.iter().map(|&v| TermId::from_raw(v)).collect()
    }

    /// Inserts pseudo-random rows in several epochs and compares with a plain list;
    /// wide values force hashing.
    fn check(values: u32, rows: u32) {
        let mut relation = Relation::new(3);
        let by_last = relation.index_on(&[2]);
        let by_two = relation.index_on(&[0, 2]);
        let mut seed = 7u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % values
        };
        for _ in 0..3 {
            relation.clear();
            let mut list: Vec<Vec<TermId>> = Vec::new();
            for _ in 0..rows {
                let row = row(&[next(), next(), next()]);
                let is_new = !list.contains(&row);
                assert_eq!(relation.insert(&row), is_new);
                if is_new {
                    list.push(row);
                }
            }
            assert_eq!(relation.count() as usize, list.len());
            relation.catch_up(by_last);
            relation.catch_up(by_two);
            for wanted in &list {
                assert!(relation.contains(wanted));
                for (index, key) in [(by_last, &wanted[2..]), (by_two, &row_of(wanted)[..])] {
                    let mut found = Vec::new();
                    let mut at = relation.find(index, key);
                    while at != NONE {
                        found.push(relation.row(at).to_vec());
                        at = relation.older(index, at);
                    }
                    found.reverse();
                    let matches = |r: &&Vec<TermId>| {
                        r[2] == wanted[2] && (index == by_last || r[0] == wanted[0])
                    };
                    let expected: Vec<_> = list.iter().filter(matches).cloned().collect();
                    assert_eq!(found, expected);
                }
            }
            assert!(!relation.contains(&row(&[values, 0, 0])));
        }
    }

    fn row_of(wanted: &[TermId]) -> Vec<TermId> {
        vec![wanted[0], wanted[2]]
    }

    #[test]
    fn narrow_rows_are_found_again() {
        check(4, 100);
    }

    #[test]
    fn wide_rows_are_found_again() {
        check(3_000, 200);
    }

    #[test]
    fn bytes_are_those_of_values_and_indexes() {
        let mut relation = Relation::new(2);
        let empty = relation.bytes();
        (0..1_000).for_each(|v| assert!(relation.insert(&row(&[v, v % 7]))));
        let whole = relation.bytes();
        // Two values, a slot and a link for each row.
        assert!(whole - empty >= 1_000 * (2 * 4 + 8 + 4), "{empty} {whole}");
        let index = relation.index_on(&[1]);
        relation.catch_up(index);
        assert!(relation.bytes() >= whole + 4 * 1_000);
    }

    #[test]
    fn a_relation_without_columns_holds_or_does_not() {
        let mut relation = Relation::new(0);
        assert!(!relation.contains(&[]));
        assert!(relation.insert(&[]));
        assert!(!relation.insert(&[]));
        assert!(relation.contains(&[]));
    }
}
