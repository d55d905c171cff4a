//! The feature `tracing`: one event for each action, with its role, peer and label.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::future::{join, try_join};
use rumpsteak_ui_tests::numbers::{Roles, consumer, producer};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes each event on a line.
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "rumpsteak"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        if let Ok(mut log) = self.0.lock() {
            log.push(line.0);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

fn logged(run: impl FnOnce()) -> Vec<String> {
    let log = Arc::default();
    tracing::subscriber::with_default(Log(Arc::clone(&log)), run);
    let log = log.lock().map(|mut log| std::mem::take(&mut *log));
    log.unwrap_or_default()
}

#[test]
fn one_event_for_each_action() {
    let Roles(mut p, mut q) = Roles::default();
    let events = logged(|| {
        block_on(try_join(producer(&mut p, &[7]), consumer(&mut q))).unwrap();
    });
    let expected = [
        ("send", "p", "q", "Number"),
        ("send", "p", "q", "Stop"),
        ("receive", "q", "p", "Number"),
        ("receive", "q", "p", "Stop"),
        ("send", "q", "p", "sum"),
        ("receive", "p", "q", "sum"),
    ]
    .map(|(action, role, peer, label)| {
        format!(
            "TRACE message={action} protocol=\"Numbers\" role={role:?} peer={peer:?} label={label:?}"
        )
    });
    assert_eq!(events, expected);
}

#[test]
fn no_event_for_an_action_that_fails() {
    let Roles(mut p, q) = Roles::default();
    drop(q);
    let events = logged(|| {
        assert!(block_on(join(producer(&mut p, &[7]), async {})).0.is_err());
    });
    assert_eq!(events, [""; 0]);
}
