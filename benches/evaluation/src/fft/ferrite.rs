//! Over `ferrite-session`: one binary session for each exchange.

use std::sync::{Arc, Mutex, PoisonError};

use ferrite_session::prelude::*;
use rumpsteak_examples::fft::{Matrix, Row};

use super::butterfly::{butterfly, factor};
use crate::{Error, Result};

type Asker = SendValue<Row, ReceiveValue<Row, End>>;

/// The rows of the asker and of the answerer after an exchange.
type Output = Arc<Mutex<(Row, Row)>>;

/// Transforms rows in bit reversed order, stage after stage. The exchanges of a stage run at once.
pub(super) async fn run(mut rows: Matrix) -> Result<Matrix> {
    for stage in 0..3 {
        let bit = 1 << stage;
        let exchanges = (0..8).filter(|asker| asker & bit == 0).map(|asker| {
            let answerer = asker | bit;
            let (row, other) =
                (std::mem::take(&mut rows[asker]), std::mem::take(&mut rows[answerer]));
            let exchange = tokio::spawn(exchange(row, other, answerer, stage));
            (asker, answerer, exchange)
        });
        for (asker, answerer, exchange) in exchanges.collect::<Vec<_>>() {
            (rows[asker], rows[answerer]) = exchange.await.map_err(Error::wrong)?;
        }
    }
    Ok(rows)
}

async fn exchange(row: Row, other: Row, number: usize, stage: u32) -> (Row, Row) {
    let output = Output::default();
    let answerer = answerer(other, number, stage, output.clone());
    run_session(apply_channel(answerer, asker(row, output.clone()))).await;
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *output)
}

fn asker(row: Row, output: Output) -> Session<Asker> {
    send_value!(
        row,
        receive_value!((row: Row) => {
            output.lock().unwrap_or_else(PoisonError::into_inner).0 = row;
            terminate!()
        })
    )
}

fn answerer(
    mut own: Row,
    number: usize,
    stage: u32,
    output: Output,
) -> Session<ReceiveChannel<Asker, End>> {
    receive_channel!(asker => receive_value_from!(asker, (asked: Row) => {
        let mut asked = asked;
        butterfly(&mut asked, &mut own, factor(number, stage));
        output.lock().unwrap_or_else(PoisonError::into_inner).1 = own;
        send_value_to!(asker, asked, wait!(asker, terminate!()))
    }))
}
