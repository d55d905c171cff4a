//! The `End` of one role does not end the session of another.

use rumpsteak::{Result, try_run, states::End};
use rumpsteak_ui_tests::ping::{C, Client, S};

pub async fn client<'s>(role: &'s mut C, end: End<'s, S>) -> Result<()> {
    try_run(role, async |s: Client<'_>| {
        drop(s);
        Ok(((), end))
    })
    .await
}

fn main() {}
