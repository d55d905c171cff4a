//! The least that the processes of one task do to pass messages over memory that two threads could
//! share: one atomic exchange for each message. Nothing is checked, and no process can leave.

use std::array;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use rumpsteak_examples::fft::{Matrix, Row};
use rumpsteak_runtime::join;

use crate::fft::{butterfly, factor};

/// The messages from one process to another.
struct Queue<T> {
    messages: RefCell<VecDeque<T>>,
    /// The exchange that would publish a message to another thread, and tell if that thread waits.
    word: AtomicUsize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { messages: RefCell::default(), word: AtomicUsize::new(0) }
    }
}

impl<T> Queue<T> {
    fn put(&self, message: T) {
        self.messages.borrow_mut().push_back(message);
        black_box(self.word.swap(1, Ordering::AcqRel));
    }

    /// The next message; waits for another turn without one.
    async fn take(&self) -> T {
        poll_fn(|context| match self.messages.borrow_mut().pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }
}

/// Streams `count` values, `ahead` of them before they are asked for, and returns their sum.
pub(crate) async fn stream(count: i32, ahead: i32) -> i32 {
    let (asked, values) = (Queue::default(), Queue::default());
    let source = async {
        for value in 0..ahead {
            values.put(Some(value));
        }
        for value in ahead..count {
            asked.take().await;
            values.put(Some(value));
        }
        asked.take().await;
        values.put(None);
        for _ in 0..ahead {
            asked.take().await;
        }
    };
    let sink = async {
        let mut sum = 0;
        loop {
            asked.put(());
            match values.take().await {
                Some(value) => sum += value,
                None => return sum,
            }
        }
    };
    join((source, sink)).await.1
}

/// Passes copies of two buffers from a source through a kernel to a sink.
pub(crate) async fn double_buffering(buffers: [&[i32]; 2]) -> [Vec<i32>; 2] {
    let (asked_s, asked_k, at_k, at_t) =
        (Queue::default(), Queue::default(), Queue::default(), Queue::default());
    let source = async {
        for buffer in buffers {
            asked_s.take().await;
            at_k.put(buffer.to_vec());
        }
    };
    let kernel = async {
        for _ in 0..2 {
            asked_s.put(());
            let copy = at_k.take().await;
            asked_k.take().await;
            at_t.put(copy);
        }
    };
    let sink = async {
        asked_k.put(());
        let first = at_t.take().await;
        asked_k.put(());
        [first, at_t.take().await]
    };
    join((source, kernel, sink)).await.2
}

/// Transforms the rows that eight processes begin with.
pub(crate) async fn transform(rows: Matrix) -> Matrix {
    let queues: [[Queue<Row>; 3]; 8] = array::from_fn(|_| array::from_fn(|_| Queue::default()));
    let queues = &queues;
    let process = async |number: usize, mut row: Row| {
        for stage in 0..3_u32 {
            let peer = number ^ 1 << stage;
            let [own, theirs] = [number, peer].map(|number| &queues[number][stage as usize]);
            if number < peer {
                theirs.put(row);
                row = own.take().await;
            } else {
                let mut asked = own.take().await;
                butterfly(&mut asked, &mut row, factor(number, stage));
                theirs.put(asked);
            }
        }
        row
    };
    let [x0, x1, x2, x3, x4, x5, x6, x7] = rows;
    let rows = join((
        process(0, x0),
        process(1, x1),
        process(2, x2),
        process(3, x3),
        process(4, x4),
        process(5, x5),
        process(6, x6),
        process(7, x7),
    ));
    rows.await.into()
}
