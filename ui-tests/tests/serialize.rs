//! `serialize` (feature `fsm`): the machine of a session as an `Fsm`.

use rumpsteak::serialize;
use rumpsteak_fsm::text::{Form, parse, print};
use rumpsteak_ui_tests::ping::{Client, Server};

#[test]
fn a_session_is_serialised_as_the_machine_that_was_verified() {
    let machines = [serialize::<Client<'_>>(), serialize::<Server<'_>>()];
    let text = print(Form::Local, &machines).unwrap();
    assert_eq!(text, "c: s!ping<i32>; s?pong<i32>; end\ns: c?ping<i32>; c!pong<i32>; end\n");
    assert_eq!(parse(&text).unwrap(), machines);
}
