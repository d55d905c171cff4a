//! The rows that tasks return.

use rumpsteak_examples::fft::{Matrix, Row};

use crate::{Error, Result};

/// The results of eight tasks.
pub(super) async fn finished(tasks: [tokio::task::JoinHandle<Result<Row>>; 8]) -> Result<Matrix> {
    let mut rows = Matrix::default();
    for (row, task) in rows.iter_mut().zip(tasks) {
        *row = task.await.map_err(Error::wrong)??;
    }
    Ok(rows)
}
