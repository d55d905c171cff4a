//! The feature `tracing`: a span for each session, and an event when an action begins to wait and
//! when it completes, with its role, peer and label.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::future::{join, try_join};
use rumpsteak_ui_tests::numbers::{Roles, consumer, producer};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "rumpsteak"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut line = Line(SPAN.to_owned());
        attributes.record(&mut line);
        if let Ok(mut log) = self.0.lock() {
            log.push(line.0);
        }
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

const SPAN: &str = "SPAN";

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

fn logged(run: impl FnOnce()) -> (Vec<String>, Vec<String>) {
    let log = Arc::default();
    tracing::subscriber::with_default(Log(Arc::clone(&log)), run);
    let log = log.lock().map(|mut log| std::mem::take(&mut *log));
    log.unwrap_or_default().into_iter().partition(|line| line.starts_with(SPAN))
}

#[test]
fn one_event_for_each_action_and_one_if_it_waits() {
    let Roles(mut p, mut q) = Roles::default();
    let (_, events) = logged(|| {
        block_on(try_join(producer(&mut p, &[7]), consumer(&mut q))).unwrap();
    });
    let expected = [
        ("send", "p", "q", "Number"),
        ("send", "p", "q", "Stop"),
        ("waits to receive", "p", "q", "sum"),
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
fn one_span_for_each_session() {
    let Roles(mut p, mut q) = Roles::default();
    let (spans, _) = logged(|| {
        for _ in 0..2 {
            block_on(try_join(producer(&mut p, &[7]), consumer(&mut q))).unwrap();
        }
    });
    let number = |span: &str, role: &str| {
        let session =
            span.strip_prefix(&format!("SPAN protocol=\"Numbers\" role={role:?} session="));
        session.unwrap().to_owned()
    };
    let [first, same, second, last] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(number(first, "p"), number(same, "q"));
    assert_eq!(number(second, "p"), number(last, "q"));
    assert_ne!(number(first, "p"), number(second, "p"));
}

#[test]
fn no_event_for_an_action_that_fails() {
    let Roles(mut p, q) = Roles::default();
    drop(q);
    let (_, events) = logged(|| {
        assert!(block_on(join(producer(&mut p, &[7]), async {})).0.is_err());
    });
    assert_eq!(events, [""; 0]);
}
