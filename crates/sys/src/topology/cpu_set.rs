//! A growable set of CPU numbers, and the two spellings the kernel has for one.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Names one logical CPU by the kernel's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A set of CPU numbers, ordered, of any size up to [`CpuSet::LIMIT`].
///
/// Nothing here blocks, does I/O or panics. Printed, a set is the kernel's list: `0-3,8`.
///
/// ```
/// use cmwq_sys::topology::{CpuId, CpuSet};
///
/// let cpus: CpuSet = "0-3,8".parse()?;
/// assert_eq!(cpus.len(), 5);
/// assert!(cpus.contains(CpuId(8)));
/// assert_eq!(CpuSet::parse_mask("10f")?, cpus);
/// assert_eq!(cpus.to_string(), "0-3,8");
/// # Ok::<(), cmwq_sys::topology::ParseCpuSetError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// Bit `n % 64` of word `n / 64 - base` is CPU `n`. Neither the first nor the last word is
    /// zero, and `base` is 0 without words: equal sets have equal fields, and a pod takes no more
    /// room for having high numbers.
    base: usize,
    words: Vec<u64>,
}

/// Why a text is not a set of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseCpuSetError {
    at: usize,
    why: &'static str,
}

impl ParseCpuSetError {
    fn new(at: usize, why: &'static str) -> Self {
        ParseCpuSetError { at, why }
    }

    /// The byte of the text, from 0, at which reading stopped.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The same complaint about a text that starts `bytes` earlier.
    pub(super) fn moved_by(mut self, bytes: usize) -> Self {
        self.at += bytes;
        self
    }

    pub(super) fn why(&self) -> &'static str {
        self.why
    }
}

impl fmt::Display for ParseCpuSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.why, self.at)
    }
}

impl std::error::Error for ParseCpuSetError {}

impl CpuSet {
    /// CPU numbers below this one can be in a set; the kernel itself is built for
    /// 8192 at most.
    pub const LIMIT: u32 = 1 << 16;

    /// The empty set; it allocates nothing.
    pub const fn new() -> Self {
        CpuSet { base: 0, words: Vec::new() }
    }

    /// The CPUs from 0 up to, and without, `count` (at most [`CpuSet::LIMIT`]).
    pub fn first_n(count: u32) -> Self {
        let mut set = CpuSet::new();
        if let Some(last) = count.min(Self::LIMIT).checked_sub(1) {
            set.insert_range(0, last);
        }
        set
    }

    /// Adds a CPU and tells whether it is new. A number from [`CpuSet::LIMIT`] on is refused:
    /// `false`.
    pub fn insert(&mut self, cpu: CpuId) -> bool {
        if cpu.0 >= Self::LIMIT {
            return false;
        }
        let (word, bit) = place(cpu);
        if self.words.is_empty() {
            self.base = word;
        } else if word < self.base {
            let missing = self.base - word;
            self.words.splice(0..0, std::iter::repeat_n(0, missing));
            self.base = word;
        }
        let index = word - self.base;
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        let is_new = self.words[index] & bit == 0;
        self.words[index] |= bit;
        is_new
    }

    /// Takes a CPU out and tells whether it was there.
    pub fn remove(&mut self, cpu: CpuId) -> bool {
        let (word, bit) = place(cpu);
        let was_there = self.contains(cpu);
        if was_there {
            self.words[word - self.base] &= !bit;
            self.trim();
        }
        was_there
    }

    /// Whether the CPU is in the set.
    pub fn contains(&self, cpu: CpuId) -> bool {
        let (word, bit) = place(cpu);
        self.word(word) & bit != 0
    }

    /// How many CPUs are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// The highest CPU.
    pub fn last(&self) -> Option<CpuId> {
        let bits = self.words.last()?;
        let low = (self.end() as u32 - 1) * 64;
        Some(CpuId(low + 63 - bits.leading_zeros()))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { words: &self.words, base: self.base, next_word: 0, bits: 0 }
    }

    /// The CPUs in either set.
    #[must_use]
    pub fn union(&self, other: &CpuSet) -> CpuSet {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => {
                let range = self.base.min(other.base)..self.end().max(other.end());
                CpuSet::of_words(range, |word| self.word(word) | other.word(word))
            }
        }
    }

    /// The CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        let range = self.base.max(other.base)..self.end().min(other.end());
        CpuSet::of_words(range, |word| self.word(word) & other.word(word))
    }

    /// The CPUs in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        CpuSet::of_words(self.base..self.end(), |word| self.word(word) & !other.word(word))
    }

    /// Whether no CPU is in both sets.
    pub fn is_disjoint(&self, other: &CpuSet) -> bool {
        (self.base..self.end()).all(|word| self.word(word) & other.word(word) == 0)
    }

    /// Whether every CPU of this set is in the other.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        (self.base..self.end()).all(|word| self.word(word) & !other.word(word) == 0)
    }

    /// Reads the kernel's list, `0-3,8`: numbers and ascending ranges, in any order. White space
    /// and NUL bytes around it do not count; an empty list is the empty set.
    ///
    /// # Errors
    /// Anything else in the text, a range that runs backwards, a number from [`CpuSet::LIMIT`] on.
    pub fn parse_list(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let (start, body) = body_of(text);
        let mut set = CpuSet::new();
        if body.is_empty() {
            return Ok(set);
        }
        let mut at = start;
        for item in body.split(',') {
            let (first, last) = match item.split_once('-') {
                Some((first, last)) => (number(first, at)?, number(last, at + first.len() + 1)?),
                None => (number(item, at)?, number(item, at)?),
            };
            if first > last {
                return Err(ParseCpuSetError::new(at, "a range that runs backwards"));
            }
            set.insert_range(first, last);
            at += item.len() + 1;
        }
        Ok(set)
    }

    /// Reads the kernel's mask, `ff,00000000`: groups of up to eight hexadecimal digits, 32 CPUs
    /// each, the highest first. White space and NUL bytes around it do not count; an empty mask is
    /// the empty set.
    ///
    /// # Errors
    /// Anything else in the text, and a mask with CPUs from [`CpuSet::LIMIT`] on.
    pub fn parse_mask(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let (start, body) = body_of(text);
        let mut set = CpuSet::new();
        if body.is_empty() {
            return Ok(set);
        }
        let groups: Vec<&str> = body.split(',').collect();
        let mut at = start;
        for (index, group) in groups.iter().enumerate() {
            let bits = hexadecimal(group, at)?;
            let low = (groups.len() - 1 - index) as u64 * 32;
            if bits != 0 && low + 32 > u64::from(Self::LIMIT) {
                return Err(ParseCpuSetError::new(at, "a CPU number beyond the limit"));
            }
            let in_group = (0..32).filter(|bit| bits >> bit & 1 == 1);
            set.extend(in_group.map(|bit| CpuId(low as u32 + bit)));
            at += group.len() + 1;
        }
        Ok(set)
    }

    /// Adds the CPUs from `first` to `last`, both below the limit, whole words at a time.
    fn insert_range(&mut self, first: u32, last: u32) {
        self.insert(CpuId(first));
        self.insert(CpuId(last));
        let (start, start_bit) = place(CpuId(first));
        let (end, end_bit) = place(CpuId(last));
        for word in start..=end {
            let from = if word == start { !(start_bit - 1) } else { u64::MAX };
            let to = if word == end { end_bit | (end_bit - 1) } else { u64::MAX };
            self.words[word - self.base] |= from & to;
        }
    }

    /// The word after the last that is kept.
    fn end(&self) -> usize {
        self.base + self.words.len()
    }

    /// The 64 CPUs from `64 * word` on.
    fn word(&self, word: usize) -> u64 {
        let index = word.checked_sub(self.base);
        index.and_then(|index| self.words.get(index)).copied().unwrap_or(0)
    }

    fn of_words(range: Range<usize>, word: impl Fn(usize) -> u64) -> CpuSet {
        let mut set = CpuSet { base: range.start, words: range.map(word).collect() };
        set.trim();
        set
    }

    fn trim(&mut self) {
        let used = self.words.iter().rposition(|&bits| bits != 0);
        self.words.truncate(used.map_or(0, |last| last + 1));
        let unused = self.words.iter().position(|&bits| bits != 0).unwrap_or(0);
        self.words.drain(..unused);
        self.base = if self.words.is_empty() { 0 } else { self.base + unused };
    }
}

fn place(cpu: CpuId) -> (usize, u64) {
    ((cpu.0 / 64) as usize, 1 << (cpu.0 % 64))
}

/// The text without white space and NUL bytes around it, and where it starts.
fn body_of(text: &str) -> (usize, &str) {
    let is_padding = |c: char| c.is_ascii_whitespace() || c == '\0';
    let body = text.trim_start_matches(is_padding);
    (text.len() - body.len(), body.trim_end_matches(is_padding))
}

fn number(text: &str, at: usize) -> Result<u32, ParseCpuSetError> {
    if let Some(odd) = text.bytes().position(|byte| !byte.is_ascii_digit()) {
        return Err(ParseCpuSetError::new(at + odd, "not a CPU number"));
    }
    if text.is_empty() {
        return Err(ParseCpuSetError::new(at, "a missing CPU number"));
    }
    match text.parse() {
        Ok(cpu) if cpu < CpuSet::LIMIT => Ok(cpu),
        _ => Err(ParseCpuSetError::new(at, "a CPU number beyond the limit")),
    }
}

fn hexadecimal(text: &str, at: usize) -> Result<u32, ParseCpuSetError> {
    if let Some(odd) = text.bytes().position(|byte| !byte.is_ascii_hexdigit()) {
        return Err(ParseCpuSetError::new(at + odd, "not a hexadecimal digit"));
    }
    if text.is_empty() || text.len() > 8 {
        return Err(ParseCpuSetError::new(at, "a group that is not one to eight hexadecimal digits"));
    }
    u32::from_str_radix(text, 16).map_err(|_| ParseCpuSetError::new(at, "not a hexadecimal number"))
}

/// The CPUs of a [`CpuSet`] in ascending order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    words: &'a [u64],
    base: usize,
    next_word: usize,
    bits: u64,
}

impl Iterator for Iter<'_> {
    type Item = CpuId;

    fn next(&mut self) -> Option<CpuId> {
        while self.bits == 0 {
            self.bits = *self.words.get(self.next_word)?;
            self.next_word += 1;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(CpuId((self.base + self.next_word - 1) as u32 * 64 + bit))
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = CpuId;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Extend<CpuId> for CpuSet {
    fn extend<T: IntoIterator<Item = CpuId>>(&mut self, cpus: T) {
        for cpu in cpus {
            self.insert(cpu);
        }
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<T: IntoIterator<Item = CpuId>>(cpus: T) -> Self {
        let mut set = CpuSet::new();
        set.extend(cpus);
        set
    }
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    /// Reads a list as [`CpuSet::parse_list`] does.
    fn from_str(text: &str) -> Result<Self, ParseCpuSetError> {
        CpuSet::parse_list(text)
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|next| next.0 == last.0 + 1) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last != first {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

#[cfg(test)]
mod tests;
