//! `mem::forget` skips the rest of the session, so there is no `End`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Ping};

pub async fn client(role: &mut C) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        let s = s.send(Ping(1)).await?;
        std::mem::forget(s);
        Ok(((), ()))
    })
    .await
}

fn main() {}
