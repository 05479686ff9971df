use super::*;

#[test]
fn every_scope_is_read_back_from_its_name() {
    for scope in Scope::ALL {
        assert_eq!(scope.to_string().parse(), Ok(scope));
        assert_eq!(Scope::ALL[scope.index()], scope);
    }
    assert_eq!("default".parse(), Ok(Scope::CacheShard));
}

#[test]
fn another_word_is_refused_with_the_words_that_are_not() {
    let error = "Numa".parse::<Scope>().expect_err("names are in lower case");
    assert_eq!(
        error.to_string(),
        "\"Numa\" is no affinity scope: use default, cpu, smt, cache_shard, cache, numa, system"
    );
}
