//! Sequences of rules of a derivation. Each is made of others in O(1), because the ways of an
//! anticipation share most of theirs; they are written out only for a certificate.

use crate::certificate::derivation::Inference;

pub(super) type Sequence = u32;

/// No rule.
pub(super) const EMPTY: Sequence = 0;
/// One `Choose`.
pub(super) const CHOOSE: Sequence = 1;
const FIRST: Sequence = 2;

#[derive(Default)]
pub(super) struct Sequences(Vec<Piece>);

#[derive(Clone, Copy)]
enum Piece {
    Unfold(u32),
    /// `Drop` of the alternative with this number.
    Drop(u32),
    /// A sequence within the alternative with this number.
    Within(u32, Sequence),
    Both(Sequence, Sequence),
}

impl Sequences {
    fn add(&mut self, piece: Piece) -> Sequence {
        self.0.push(piece);
        FIRST + self.0.len() as Sequence - 1
    }

    pub(super) fn unfold(&mut self, times: u32) -> Sequence {
        if times == 0 {
            return EMPTY;
        }
        self.add(Piece::Unfold(times))
    }

    pub(super) fn drop(&mut self, alternative: u32) -> Sequence {
        self.add(Piece::Drop(alternative))
    }

    pub(super) fn within(&mut self, alternative: u32, sequence: Sequence) -> Sequence {
        if sequence == EMPTY {
            return EMPTY;
        }
        self.add(Piece::Within(alternative, sequence))
    }

    pub(super) fn both(&mut self, first: Sequence, second: Sequence) -> Sequence {
        match (first, second) {
            (EMPTY, other) | (other, EMPTY) => other,
            _ => self.add(Piece::Both(first, second)),
        }
    }

    pub(super) fn write(&self, sequence: Sequence, rules: &mut Vec<Inference>) {
        // Each with the number of alternatives around it.
        let mut open = vec![(sequence, 0)];
        let mut path: Vec<u32> = vec![];
        while let Some((sequence, depth)) = open.pop() {
            path.truncate(depth);
            let piece = match sequence {
                EMPTY => continue,
                CHOOSE => {
                    rules.push(Inference::Choose);
                    continue;
                }
                _ => self.0[(sequence - FIRST) as usize],
            };
            match piece {
                Piece::Unfold(times) => {
                    rules.extend((0..times).map(|_| Inference::Unfold(path.clone())));
                }
                Piece::Drop(alternative) => {
                    let path = path.iter().copied().chain([alternative]);
                    rules.push(Inference::Drop(path.collect()));
                }
                Piece::Within(alternative, inner) => {
                    path.push(alternative);
                    open.push((inner, path.len()));
                }
                Piece::Both(first, second) => open.extend([(second, depth), (first, depth)]),
            }
        }
    }
}
