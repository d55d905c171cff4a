//! Stubs for items with an error, so that one mistake is one error of rustc. The macro emits them
//! only beside a `compile_error!`, so they never run.

/// Implements the routes of a stub role, or the traits of a stub message type.
#[doc(hidden)]
#[macro_export]
macro_rules! __stub {
    (role $role:ty) => {
        impl<__P> $crate::transport::Route<__P> for $role {
            type Link = $crate::Channel<<Self as $crate::Role>::Message>;

            const CAPACITY: $crate::private::ByMacro<$crate::channel::Capacity> =
                $crate::private::ByMacro($crate::channel::Capacity::Growable);

            fn route(&mut self) -> &mut Self::Link {
                ::core::unreachable!()
            }
        }

        impl<__Set> $crate::private::wiring::Wire<__Set> for $role {
            fn wire(_: &mut $crate::private::wiring::Wiring<'_>) -> Self {
                ::core::unreachable!()
            }
        }
    };
    (message $message:ty) => {
        impl $crate::transport::Labelled for $message {
            fn labelled(&self) -> $crate::private::Label {
                $crate::private::Label { name: "", tag: 0 }
            }
        }

        impl<__L> $crate::Message<__L> for $message {
            const LABEL: $crate::private::ByMacro<$crate::private::Label> =
                $crate::private::ByMacro($crate::private::Label { name: "", tag: 0 });

            type Members = $crate::states::EachMember;

            fn upcast(_: __L) -> Self {
                ::core::unreachable!()
            }

            fn downcast(self) -> ::core::result::Result<__L, Self> {
                ::core::result::Result::Err(self)
            }
        }
    };
}
