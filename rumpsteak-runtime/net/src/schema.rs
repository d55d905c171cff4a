//! Of what the types of messages are made: a codec that writes no names reads the fields of one
//! type as those of another one.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_reflection::{ContainerFormat, Samples, Tracer, TracerConfig};

/// A number for each type in messages, by its name: made from its fields or variants, their names,
/// types and order.
///
/// Found by reading a message from nothing. A type that reads itself in its own way, and refuses
/// what it is given, ends the search: what it and others after it are made of is not known.
/// The variants of the message type are its labels, which ends compare one by one.
pub(crate) fn of<M: DeserializeOwned>() -> BTreeMap<String, u64> {
    let mut tracer = Tracer::new(TracerConfig::default());
    // What was found until then is in the registry.
    let _ = tracer.trace_type::<M>(&Samples::new());
    let is_of_labels = |type_name: &str, format: &ContainerFormat| {
        type_name == name::<M>() && matches!(format, ContainerFormat::Enum(_))
    };
    let found = tracer.registry_unchecked().into_iter();
    found
        .filter(|(name, format)| !is_of_labels(name, format))
        .map(|(name, format)| (name, fingerprint(format!("{format:?}").bytes())))
        .collect()
}

/// The name of a type, without its module.
pub(crate) fn name<M>() -> &'static str {
    std::any::type_name::<M>().rsplit("::").next().unwrap_or_default()
}

/// A number that stands for bytes: FNV-1a.
pub(crate) fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::of;

    /// Messages that carry a `Job`, which is declared as it is written here.
    macro_rules! messages {
        ($module:ident: $job:item) => {
            mod $module {
                use super::Deserialize;

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                pub(super) enum Label {
                    Run(Run),
                    Stop,
                }

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                pub(super) struct Run(Vec<Job>);

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                $job
            }
        };
    }

    messages!(one: struct Job { from: u32, to: u32 });
    messages!(same: struct Job { from: u32, to: u32 });
    messages!(swapped: struct Job { to: u32, from: u32 });
    messages!(wider: struct Job { from: u32, to: u64 });
    messages!(renamed: struct Job { from: u32, until: u32 });
    messages!(variants: enum Job { From(u32), To(u32) });

    #[test]
    fn a_type_is_known_by_its_fields_and_their_order() {
        let one = of::<one::Label>();
        assert_eq!(one.keys().collect::<Vec<_>>(), ["Job", "Run"]);
        assert_eq!(one, of::<same::Label>());
        let others = [
            of::<swapped::Label>(),
            of::<wider::Label>(),
            of::<renamed::Label>(),
            of::<variants::Label>(),
        ];
        for other in others {
            assert_ne!(one["Job"], other["Job"]);
            assert_eq!(one["Run"], other["Run"]);
        }
    }
}
