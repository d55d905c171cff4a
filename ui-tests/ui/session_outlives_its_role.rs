//! A state borrows the role, so it cannot leave the function that owns the role.

use rumpsteak::{Error, ErrorKind, try_run};
use rumpsteak_ui_tests::ping::{C, Client, Roles};

pub async fn keep() -> Option<Client<'static>> {
    let Roles { mut c, s: _ } = Roles::default();
    let mut kept = None;
    let _ = try_run(&mut c, async |s: Client<'_>| {
        kept = Some(s);
        Err::<((), _), Error>(ErrorKind::Poisoned { role: C::default_name() }.into())
    })
    .await;
    kept
}

trait Named {
    fn default_name() -> &'static str {
        "c"
    }
}
impl Named for C {}

fn main() {}
