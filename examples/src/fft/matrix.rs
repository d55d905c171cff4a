//! The matrices that are transformed.

use num_complex::Complex32;

/// The part of a process, and of what it sends: one row of the matrix, a value of each column.
pub type Row = Vec<Complex32>;

/// A matrix by its rows, which all have the same length.
pub type Matrix = [Row; 8];
