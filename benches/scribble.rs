//! The cost of a protocol in a build: parse, check and project onto every role.
//!
//! `cargo bench -p rumpsteak-benches --bench scribble`
//!
//! A build script is not optimised, not even by `cargo build --release`. This measures its cost:
//!
//! `cargo bench -p rumpsteak-benches --bench scribble --profile build-script`
//!
//! Compare within a group: its members differ in size only, and with linear growth the time per
//! element stays the same. An element is an interaction of the text.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rumpsteak_scribble::{check, parse};

/// The number of states of all machines together.
///
/// # Panics
/// If the protocol has errors.
fn project(source: &str) -> usize {
    let parsed = parse(source);
    assert_eq!(parsed.diagnostics, []);
    let checked = check(&parsed.module);
    assert_eq!(checked.diagnostics, []);
    let mut states = 0;
    for protocol in &checked.protocols {
        for role in protocol.roles() {
            match protocol.project(role) {
                Ok(projection) => states += projection.fsm.len(),
                Err(errors) => panic!("{role}: {errors:?}"),
            }
        }
    }
    states
}

/// `global protocol P(role r0, …) {`
fn heading(roles: usize) -> String {
    let roles: Vec<String> = (0..roles).map(|role| format!("role r{role}")).collect();
    format!("global protocol P({}) {{\n", roles.join(", "))
}

/// Appends `m7(i32) from r1 to r2;`.
fn message(text: &mut String, number: usize, from: usize, to: usize) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  m{number}(i32) from r{from} to r{to};");
}

/// Messages between all pairs in turn, one after the other, for ever.
fn sequence(interactions: usize, roles: usize) -> String {
    let mut text = heading(roles) + "rec X {\n";
    for number in 0..interactions {
        let from = number % roles;
        let to = (from + 1 + number / roles % (roles - 1)) % roles;
        message(&mut text, number, from, to);
    }
    text + "continue X; } }"
}

/// Choices one after the other, each of which goes round all roles; every branch of the first ones
/// goes on with the rest.
fn choices(interactions: usize, roles: usize) -> String {
    let mut text = heading(roles);
    for number in 0..interactions / (2 * roles) {
        text += "choice at r0 {\n";
        (0..roles).for_each(|from| message(&mut text, 2 * number, from, (from + 1) % roles));
        text += "} or {\n";
        (0..roles).for_each(|from| message(&mut text, 2 * number + 1, from, (from + 1) % roles));
        text += "}\n";
    }
    text + "}"
}

/// A value goes round.
fn ring(roles: usize) -> String {
    let mut text = heading(roles) + "rec X {\n";
    (0..roles).for_each(|from| message(&mut text, 0, from, (from + 1) % roles));
    text + "continue X; } }"
}

/// Choices within choices, all branches of a level with one continuation: 2^depth runs.
fn nested(depth: usize) -> String {
    let mut text =
        "global protocol P(role r0, role r1, role r2) { do C0(r0, r1, r2); }\n".to_owned();
    for level in 0..depth {
        let _ = writeln!(
            text,
            "aux global protocol C{level}(role a, role b, role c) {{
               choice at a {{ l() from a to b; l() from b to c; do C{next}(a, b, c); }}
               or {{ r() from a to b; r() from b to c; do C{next}(a, b, c); }}
             }}",
            next = level + 1,
        );
    }
    let _ = writeln!(
        text,
        "aux global protocol C{depth}(role a, role b, role c) {{ end() from a to b; end() from b to c; }}"
    );
    text
}

fn group(
    criterion: &mut Criterion,
    name: &str,
    sizes: &[usize],
    elements: impl Fn(usize) -> usize,
    source: impl Fn(usize) -> String,
) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    for &size in sizes {
        let source = source(size);
        group.throughput(Throughput::Elements(elements(size) as u64));
        group.bench_with_input(BenchmarkId::from_parameter(size), &source, |bencher, source| {
            bencher.iter(|| project(black_box(source)));
        });
    }
    group.finish();
}

fn scribble(criterion: &mut Criterion) {
    let interactions = [1_250, 2_500, 5_000, 10_000];
    group(criterion, "sequence_of_10_roles", &interactions, |n| n, |n| sequence(n, 10));
    group(criterion, "choices_of_10_roles", &interactions, |n| n, |n| choices(n, 10));
    group(criterion, "ring", &[25, 50, 100, 200], |n| n, ring);
    group(criterion, "nested_choices", &[10, 20, 40], |n| 4 * n + 2, nested);
}

criterion_group!(benches, scribble);
criterion_main!(benches);
