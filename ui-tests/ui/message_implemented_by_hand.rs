//! Only the module decides which labels a message type has.

use rumpsteak::Message;
use rumpsteak_ui_tests::numbers::{Label, Stop};

/// A label that no protocol has.
pub struct Evil;

impl Message<Evil> for Label {
    const NAME: &'static str = "Ping";

    fn upcast(_: Evil) -> Self {
        Self::Stop(Stop)
    }

    fn downcast(self) -> Result<Evil, Self> {
        Ok(Evil)
    }
}

fn main() {}
