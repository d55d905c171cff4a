//! Maps with few keys, in the order of their first use: without the code of a map for each type.

/// The value of a key, which is new at its first use.
pub(crate) fn entry<K: PartialEq, V: Default>(map: &mut Vec<(K, V)>, key: K) -> &mut V {
    let place = map.iter().position(|(own, _)| *own == key).unwrap_or(map.len());
    if place == map.len() {
        map.push((key, V::default()));
    }
    &mut map[place].1
}
