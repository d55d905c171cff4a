//! Over `ferrite-session`: the kernel is the client of two binary sessions.

use std::sync::{Arc, Mutex};

use ferrite_session::prelude::*;

struct Ready;

type Buffer = Vec<i32>;
type Source = ReceiveValue<Ready, SendValue<Buffer, ReceiveValue<Ready, SendValue<Buffer, End>>>>;
type Sink = SendValue<Ready, ReceiveValue<Buffer, SendValue<Ready, ReceiveValue<Buffer, End>>>>;
type Kernel = ReceiveChannel<Source, ReceiveChannel<Sink, End>>;

/// The values that the sink has received.
type Output = Arc<Mutex<Vec<Buffer>>>;

/// Passes copies of both halves on, and returns what the sink received.
pub(crate) async fn run(values: Arc<[i32]>) -> Vec<Vec<i32>> {
    let output = Output::default();
    let kernel = apply_channel(apply_channel(kernel(), source(values)), sink(output.clone()));
    run_session(kernel).await;
    let mut output = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::mem::take(&mut *output)
}

fn source(values: Arc<[i32]>) -> Session<Source> {
    receive_value!((_ready: Ready) => {
        let half = values.len() / 2;
        send_value!(
            values[..half].to_vec(),
            receive_value!((_ready: Ready) => send_value!(values[half..].to_vec(), terminate!()))
        )
    })
}

fn kernel() -> Session<Kernel> {
    receive_channels!((s, t) => {
        send_value_to!(s, Ready, receive_value_from!(s, (first: Buffer) => {
            receive_value_from!(t, (_ready: Ready) => {
                send_value_to!(t, first, send_value_to!(s, Ready, receive_value_from!(s, (second: Buffer) => {
                    receive_value_from!(t, (_ready: Ready) => {
                        send_value_to!(t, second, wait!(s, wait!(t, terminate!())))
                    })
                })))
            })
        }))
    })
}

fn sink(output: Output) -> Session<Sink> {
    send_value!(
        Ready,
        receive_value!((first: Buffer) => {
            send_value!(Ready, receive_value!((second: Buffer) => {
                if let Ok(mut received) = output.lock() {
                    received.extend([first, second]);
                }
                terminate!()
            }))
        })
    )
}
