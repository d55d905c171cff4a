//! Streaming over `ferrite-session`.
//!
//! Sessions are recursive functions: a process cannot loop, and its result leaves through shared
//! memory.

use std::sync::{Arc, Mutex};

use ferrite_session::either::{Either, Left, LeftLabel, Right, RightLabel};
use ferrite_session::prelude::*;

struct Ready;
struct Value(i32);

/// The sink's session: the source is its client.
type Sink = Rec<SendValue<Ready, ExternalChoice<Either<ReceiveValue<Value, Z>, End>>>>;

/// The values that the sink has received.
type Output = Arc<Mutex<Vec<i32>>>;

/// Streams so many values, from 0, and returns the values of the sink.
pub(super) async fn stream(count: i32) -> Vec<i32> {
    let output = Output::default();
    let both = apply_channel(source(0, count), sink(output.clone()));
    run_session(both).await;
    let values = output.lock().map(|values| values.clone());
    values.unwrap_or_default()
}

fn source(value: i32, count: i32) -> Session<ReceiveChannel<Sink, End>> {
    receive_channel!(sink => values(sink, value, count))
}

/// Sends the remaining values, from `value`.
fn values(sink: Z, value: i32, count: i32) -> PartialSession<HList![Sink], End> {
    unfix_session(
        sink,
        receive_value_from!(sink, (_ready: Ready) => {
            if value < count {
                choose!(sink, Left, send_value_to!(sink, Value(value), values(sink, value + 1, count)))
            } else {
                choose!(sink, Right, wait!(sink, terminate!()))
            }
        }),
    )
}

fn sink(output: Output) -> Session<Sink> {
    fix_session(send_value!(
        Ready,
        offer_choice! {
            Left => receive_value!((value: Value) => {
                if let Ok(mut values) = output.lock() {
                    values.push(value.0);
                }
                sink(output)
            })
            Right => terminate!()
        }
    ))
}
