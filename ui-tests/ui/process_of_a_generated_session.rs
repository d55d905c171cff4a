//! Six ways to leave a session too early, or with something else than its end.

use rumpsteak::Ended;
use rumpsteak::states::End;

#[rumpsteak::protocol(Numbers)]
mod numbers {}
use numbers::*;

pub async fn too_early(s: PSession<'_>) -> Ended<'_, P> {
    s.select(Stop).await?.end(())
}

pub async fn returned_early(s: PSession<'_>, hurry: bool) -> Ended<'_, P, i32> {
    let s = s.select(Stop).await?;
    if hurry {
        return s.end(0);
    }
    let (Sum(sum), s) = s.receive().await?;
    s.end(sum)
}

pub async fn without_the_end(s: PSession<'_>) -> Ended<'_, P> {
    s.select(Stop).await?;
    Ok(())
}

pub async fn end_of_another_role<'s>(s: PSession<'s>, end: End<'s, Q>) -> Ended<'s, P> {
    drop(s);
    end.end(())
}

pub async fn by_a_question_mark<'s>(s: PSession<'s>, text: &str) -> Ended<'s, P, i32> {
    let s = s.select(Number(text.parse()?)).await?;
    let (Sum(sum), s) = s.select(Stop).await?.receive().await?;
    s.end(sum)
}

pub async fn off_the_loop(mut s: QSession<'_>) -> Ended<'_, Q, i32> {
    let mut sum = 0;
    while sum < 100 {
        s = match s.branch().await? {
            QNumberChoice::Number(Number(number), s) => {
                sum += number;
                s
            }
            QNumberChoice::Stop(Stop, s) => return s.send(Sum(sum)).await?.end(sum),
        };
    }
    s.end(sum)
}

fn main() {}
