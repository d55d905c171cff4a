//! The process leaves its loop in the middle of the session.

use rumpsteak::Ended;
use rumpsteak_ui_tests::numbers::{Consumer, Next, Number, Q, Stop, Sum};

pub async fn consumer(mut s: Consumer<'_>) -> Ended<'_, Q, i32> {
    let mut sum = 0;
    while sum < 100 {
        s = match s.branch().await? {
            Next::Number(Number(number), s) => {
                sum += number;
                s
            }
            Next::Stop(Stop, s) => return s.send(Sum(sum)).await?.end(sum),
        };
    }
    s.end(sum)
}

fn main() {}
