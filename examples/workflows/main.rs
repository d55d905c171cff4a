//! The papers' protocols in all three workflows (PPoPP'22, Fig. 1), with the same processes.
//!
//! | workflow | roles and sessions | verified |
//! |---|---|---|
//! | top-down | generated from `protocols/*.scr`, for the kernel from `protocols/double_buffering.k.dot` | each machine against its projection |
//! | hybrid | by hand, `hybrid/` | each session against its projection |
//! | bottom-up | by hand without a protocol, `bottom_up/` | all sessions together |
//!
//! Each file of `processes/` is included by one module of each workflow.

use rumpsteak_runtime::machine::Machine;

mod top_down {
    pub mod double_buffering {
        rumpsteak_runtime::protocol!(pub DoubleBuffering);
        use double_buffering::*;
        include!("processes/double_buffering.rs");
    }

    pub mod streaming {
        rumpsteak_runtime::protocol!(Streaming);
        use streaming::*;
        include!("processes/streaming.rs");
    }

    pub mod ring_choice {
        rumpsteak_runtime::protocol!(RingChoice);
        use ring_choice::*;
        include!("processes/ring_choice.rs");
    }

    pub mod elevator {
        rumpsteak_runtime::protocol!(Elevator);
        use elevator::*;
        include!("processes/elevator.rs");
    }

    pub mod alternating_bit {
        rumpsteak_runtime::protocol!(AlternatingBit);
        use alternating_bit::*;
        include!("processes/alternating_bit.rs");
    }

    pub mod three_adder {
        rumpsteak_runtime::protocol!(ThreeAdder);
        use three_adder::*;
        include!("processes/three_adder.rs");
    }
}

mod hybrid {
    pub mod alternating_bit;
    pub mod double_buffering;
    pub mod elevator;
    pub mod ring_choice;
    pub mod streaming;
    pub mod three_adder;
}

mod bottom_up {
    pub mod alternating_bit;
    pub mod double_buffering;
    pub mod elevator;
    pub mod ring_choice;
    pub mod streaming;
    pub mod three_adder;
}

/// A test that runs the processes of a protocol in each workflow.
macro_rules! in_all_workflows {
    ($($protocol:ident: $expected:expr;)*) => {$(
        #[tokio::test]
        async fn $protocol() -> rumpsteak_runtime::Result<()> {
            assert_eq!(top_down::$protocol::run().await?, $expected);
            assert_eq!(hybrid::$protocol::run().await?, $expected);
            assert_eq!(bottom_up::$protocol::run().await?, $expected);
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

/// The machine of a session at run time is the one that the build verified: for the kernel, the one
/// that lies beside the protocol.
#[test]
fn the_machine_of_a_session() -> Result<(), rumpsteak_fsm::text::ParseError> {
    let beside = rumpsteak_fsm::dot::parse(include_str!("../../protocols/double_buffering.k.dot"))?;
    let beside = format!("{:?}", beside[0]);
    let generated = Machine::of::<top_down::double_buffering::double_buffering::KSession<'_>>();
    assert_eq!(generated.to_string(), beside);
    let hybrid = Machine::of::<hybrid::double_buffering::KSession<'_>>();
    assert_eq!(hybrid.to_string(), beside);

    // Without a protocol, the names are those of the source.
    let bottom_up = Machine::of::<bottom_up::double_buffering::KSession<'_>>();
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
