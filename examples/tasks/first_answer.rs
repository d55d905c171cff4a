//! A client asks two mirrors, and uses the first answer. It also receives the later one, and drops
//! it.
//!
//! `cargo run -p rumpsteak-examples --example first_answer`

use std::process::ExitCode;
use std::time::Duration;

use rumpsteak::{Ended, Result};
use tokio::time::sleep;

#[rumpsteak::protocol(FirstAnswer)]
pub mod first_answer {}
use first_answer::*;

async fn client<'s>(session: CSession<'s>, path: &str) -> Ended<'s, C, String> {
    let session = session.send(Get(path.to_owned())).await?.send(Get(path.to_owned())).await?;
    let (mut first, mut due) = (None, session.gather());
    loop {
        due = match due.next().await? {
            CPageGather::PageFromA(Page(page), due) | CPageGather::PageFromB(Page(page), due) => {
                first.get_or_insert(page);
                due
            }
            CPageGather::All(end) => return end.end(first.unwrap_or_default()),
        };
    }
}

async fn mirror_a(session: ASession<'_>, delay: Duration) -> Ended<'_, A> {
    let (Get(path), session) = session.receive().await?;
    sleep(delay).await;
    session.send(Page(format!("{path} of a"))).await?.end(())
}

async fn mirror_b(session: BSession<'_>, delay: Duration) -> Ended<'_, B> {
    let (Get(path), session) = session.receive().await?;
    sleep(delay).await;
    session.send(Page(format!("{path} of b"))).await?.end(())
}

/// The pages. First one mirror is slow, then the other.
pub async fn run() -> Result<[String; 2]> {
    let mut roles = Roles::default();
    let mut pages = [String::new(), String::new()];
    let delays = [(Duration::ZERO, Duration::from_millis(20))];
    let delays = delays.into_iter().flat_map(|(fast, slow)| [(fast, slow), (slow, fast)]);
    for (page, (of_a, of_b)) in pages.iter_mut().zip(delays) {
        let all = roles.run(|c| client(c, "/index"), |a| mirror_a(a, of_a), |b| mirror_b(b, of_b));
        (*page, (), ()) = all.await?;
        println!("client: got {page}");
    }
    Ok(pages)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let pages = ["/index of a".to_owned(), "/index of b".to_owned()];
    rumpsteak_examples::conclude(run().await, pages)
}
