//! Four of these ways in closures. See also `session_forgotten` and `end_of_another_role`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::numbers::{Consumer, Next, Number, P, Producer, Q, Stop, Sum};

pub async fn too_early(role: &mut P) -> Result<()> {
    try_run(role, async |s: Producer<'_>| s.select(Stop).await?.end(())).await
}

pub async fn returned_early(role: &mut P, hurry: bool) -> Result<i32> {
    try_run(role, async |s: Producer<'_>| {
        let s = s.select(Stop).await?;
        if hurry {
            return s.end(0);
        }
        let (Sum(sum), s) = s.receive().await?;
        s.end(sum)
    })
    .await
}

pub async fn by_a_question_mark(role: &mut P, text: &str) -> Result<i32> {
    try_run(role, async |s: Producer<'_>| {
        let s = s.select(Number(text.parse()?)).await?;
        let (Sum(sum), s) = s.select(Stop).await?.receive().await?;
        s.end(sum)
    })
    .await
}

pub async fn off_the_loop(role: &mut Q) -> Result<i32> {
    try_run(role, async |mut s: Consumer<'_>| {
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
    })
    .await
}

fn main() {}
