//! The matrices that are transformed.

use num_complex::Complex32;

/// One row of the matrix, with a value of each column: the part of a process, and of its messages.
pub type Row = Vec<Complex32>;

/// A matrix by its rows, which all have the same length.
pub type Matrix = [Row; 8];
