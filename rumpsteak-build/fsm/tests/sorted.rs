//! The sorted collections agree with the standard library's B-trees on every operation that both have.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_fsm::sorted::{SortedMap, SortedSet};

/// Numbers that look random: a full-period congruence modulo 2³², of which the upper bits are used.
fn numbers(seed: u32) -> impl Iterator<Item = u32> {
    let step = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), step).map(|state| state >> 24)
}

#[test]
fn a_map_does_what_a_tree_does() {
    for seed in 0..50 {
        let (mut map, mut tree) = (SortedMap::new(), BTreeMap::new());
        let mut numbers = numbers(seed);
        for _ in 0..300 {
            let mut next = || numbers.next().expect("they do not end");
            let (operation, key, value) = (next() % 8, next() % 40, next());
            match operation {
                0..=2 => assert_eq!(map.insert(key, value), tree.insert(key, value)),
                3 => assert_eq!(map.remove(&key), tree.remove(&key)),
                4 => *map.or_default(key) = *tree.entry(key).or_default() + value,
                5 => assert_eq!(
                    map.or_insert_with(key, || value),
                    tree.entry(key).or_insert(value)
                ),
                6 => {
                    map.retain(|key, _| key % 7 != value % 7);
                    tree.retain(|key, _| key % 7 != value % 7);
                }
                _ => assert_eq!(map.get_mut(&key), tree.get_mut(&key)),
            }
            if operation == 4 {
                tree.insert(key, map.get(&key).copied().expect("it was made"));
            }
            assert_eq!(map.get(&key), tree.get(&key));
            assert_eq!(map.contains_key(&key), tree.contains_key(&key));
            assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
            assert!(map.iter().eq(&tree));
        }
        assert!(map.keys().eq(tree.keys()));
        assert!(map.values().eq(tree.values()));
        assert_eq!(format!("{map:?}"), format!("{tree:?}"));
        map.values_mut().for_each(|value| *value += 1);
        tree.values_mut().for_each(|value| *value += 1);
        assert!(map.clone().into_values().eq(tree.clone().into_values()));
        assert!(map.into_iter().eq(tree));
    }
}

#[test]
fn a_set_does_what_a_tree_does() {
    for seed in 0..50 {
        let (mut set, mut tree) = (SortedSet::new(), BTreeSet::new());
        let mut numbers = numbers(seed);
        for _ in 0..300 {
            let mut next = || numbers.next().expect("they do not end");
            let (operation, member) = (next() % 3, next() % 40);
            match operation {
                0 | 1 => assert_eq!(set.insert(member), tree.insert(member)),
                _ => assert_eq!(set.remove(&member), tree.remove(&member)),
            }
            assert_eq!(set.contains(&member), tree.contains(&member));
            assert_eq!(set.first(), tree.first());
            assert_eq!((set.len(), set.is_empty()), (tree.len(), tree.is_empty()));
            assert!(set.iter().eq(&tree));
        }
        assert_eq!(format!("{set:?}"), format!("{tree:?}"));
        assert_eq!(set.as_slice(), tree.iter().copied().collect::<Vec<_>>());
        assert!(set.into_iter().eq(tree));
    }
}

#[test]
fn what_they_are_made_of_need_not_be_in_order() {
    let map = SortedMap::from([(3, 'c'), (1, 'a'), (3, 'd'), (2, 'b')]);
    assert!(map.iter().eq([(&1, &'a'), (&2, &'b'), (&3, &'d')]));
    assert_eq!(map[&2], 'b');

    let mut set = SortedSet::from(["z", "a", "z"]);
    set.extend(["m"]);
    assert_eq!(set.as_slice(), ["a", "m", "z"]);
    // Found by what the members borrow as.
    let owned: SortedSet<String> = set.iter().map(ToString::to_string).collect();
    assert!(owned.contains("m"));
    assert!(!owned.contains("n"));
}
