//! The atomics, locks and shared memory of channels and of `join`, under one set of names: from the
//! standard library, or from loom, so that the models see every access.

#[cfg(not(all(test, rumpsteak_loom)))]
mod real {
    pub(crate) use std::sync::{Arc, Mutex, atomic};

    pub(crate) use atomic_waker::AtomicWaker;

    #[inline]
    pub(crate) fn arc<T>(make: impl FnOnce() -> T) -> Arc<T> {
        // `Arc::new` would move the value there.
        Arc::new_cyclic(|_| make())
    }

    /// An empty lock, as a constant: a value that is computed elsewhere would be copied.
    #[inline]
    pub(crate) fn empty<T>() -> Mutex<Option<T>> {
        const { Mutex::new(None) }
    }

    /// Memory shared by two threads, with loom's interface.
    pub(crate) mod cell {
        /// [`std::cell::UnsafeCell`] with loom's interface.
        pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

        impl<T> UnsafeCell<T> {
            #[inline]
            pub(crate) fn new(value: T) -> Self {
                Self(std::cell::UnsafeCell::new(value))
            }

            #[inline]
            pub(crate) fn with<U>(&self, read: impl FnOnce(*const T) -> U) -> U {
                read(self.0.get())
            }

            #[inline]
            pub(crate) fn with_mut<U>(&self, write: impl FnOnce(*mut T) -> U) -> U {
                write(self.0.get())
            }
        }
    }
}

#[cfg(not(all(test, rumpsteak_loom)))]
pub(crate) use real::*;

#[cfg(all(test, rumpsteak_loom))]
pub(crate) use self::models::*;

#[cfg(all(test, rumpsteak_loom))]
mod models {
    pub(crate) use loom::cell;
    pub(crate) use loom::sync::{Arc, Mutex, atomic};

    pub(crate) fn arc<T>(make: impl FnOnce() -> T) -> Arc<T> {
        Arc::new(make())
    }

    pub(crate) fn empty<T>() -> Mutex<Option<T>> {
        Mutex::new(None)
    }

    /// loom's `AtomicWaker`, with the interface of the `atomic-waker` crate.
    #[derive(Default)]
    pub(crate) struct AtomicWaker(loom::future::AtomicWaker);

    impl AtomicWaker {
        pub(crate) fn register(&self, waker: &std::task::Waker) {
            self.0.register_by_ref(waker);
        }

        pub(crate) fn wake(&self) {
            self.0.wake();
        }

        pub(crate) fn take(&self) -> Option<std::task::Waker> {
            self.0.take_waker()
        }
    }
}
