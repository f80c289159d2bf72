const seedRandom = () => {};
