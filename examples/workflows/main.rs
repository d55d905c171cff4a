//! The papers' protocols in all three workflows (PPoPP'22, Fig. 1), with the same processes.
//!
//! | workflow | the module | verified |
//! |---|---|---|
//! | top-down | `#[protocol(P)] mod p {}`: all items are generated, the session of the kernel from `protocols/double_buffering.k.dot` | each machine against its projection |
//! | hybrid | `#[protocol(P)] mod p { … }` with sessions by hand | each session against its projection |
//! | bottom-up | `#[closed_system] mod p { … }` with the same sessions, and labels by hand | all sessions together |
//!
//! Only the module changes from one workflow to the next: each includes the same file of
//! `processes/`.

mod alternating_bit;
mod double_buffering;
mod elevator;
mod ring_choice;
mod streaming;
mod three_adder;

use rumpsteak::machine::Machine;

/// A test that runs the processes of a protocol in each workflow.
macro_rules! in_all_workflows {
    ($($protocol:ident: $expected:expr;)*) => {$(
        #[tokio::test]
        async fn $protocol() -> rumpsteak::Result<()> {
            assert_eq!($protocol::top_down::run().await?, $expected);
            assert_eq!($protocol::hybrid::run().await?, $expected);
            assert_eq!($protocol::bottom_up::run().await?, $expected);
            Ok(())
        }
    )*};
}

in_all_workflows! {
    double_buffering: 10 + 20 + 30 + 40 + 50;
    streaming: 1 + 2 + 3 + 4;
    ring_choice: 7 + 7 - 1 - 1;
    elevator: 3 + 2;
    alternating_bit: 1 + 2 + 3;
    three_adder: 30 + 12;
}

/// The machine of a session at run time is the one that the build verified. For the kernel, it is
/// the one beside the protocol.
#[test]
fn the_machine_of_a_session() -> Result<(), rumpsteak_fsm::text::ParseError> {
    let beside = rumpsteak_fsm::dot::parse(include_str!("../../protocols/double_buffering.k.dot"))?;
    let beside = format!("{:?}", beside[0]);
    let generated = Machine::of::<double_buffering::top_down::double_buffering::KSession<'_>>();
    assert_eq!(generated.to_string(), beside);
    let hybrid = Machine::of::<double_buffering::hybrid::double_buffering::KSession<'_>>();
    assert_eq!(hybrid.to_string(), beside);

    // Without a protocol, the names come from the source.
    let bottom_up = Machine::of::<double_buffering::bottom_up::double_buffering::KSession<'_>>();
    assert_eq!(
        bottom_up.to_string(),
        "K: 5 states from 0, 0 -S!Ready-> 1, 1 -S!Ready-> 2, 2 -S?Value(i32)-> 3, \
         3 -T?Ready-> 4, 4 -T!Value(i32)-> 1"
    );
    let last = bottom_up.transitions().last().unwrap();
    assert_eq!((last.source, last.sends, last.peer), (4, true, "T"));
    assert_eq!((last.label, last.payload, last.target), ("Value", &["i32"][..], 1));
    Ok(())
}
