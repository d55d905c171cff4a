//! The peer may select `Stop`, which the process does not handle.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::numbers::{Consumer, Next, Number, Q};

pub async fn consumer(role: &mut Q) -> Result<i32> {
    try_run(role, async |mut s: Consumer<'_>| {
        loop {
            s = match s.branch().await? {
                Next::Number(Number(_), s) => s,
            };
        }
    })
    .await
}

fn main() {}
