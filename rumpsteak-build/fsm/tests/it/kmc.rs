//! k-multiparty compatibility: the corpora's verdicts, the engine against the definitions, the
//! reduction against the engine, and what is said of refusals.

mod corpora;
mod protocols;
mod random;
mod reference;
mod verdicts;
