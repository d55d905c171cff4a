//! The `End` of one role does not end the session of another.

use rumpsteak_runtime::{End, Result, try_session};
use rumpsteak_ui_tests::ping::{C, Client, S};

pub async fn client<'s>(role: &'s mut C, end: End<'s, S>) -> Result<()> {
    try_session(role, async |s: Client<'_>| {
        drop(s);
        Ok(((), end))
    })
    .await
}

fn main() {}
