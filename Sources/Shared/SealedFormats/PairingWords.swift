extension Invitation {
    /// The three words that the device which joins and the computer that invited it both show, and a person compares:
    /// docs/formats.md, "Pairing". They differ for another device that has the link.
    ///
    /// - Parameters: the keys of the device that joins.
    public func words(signingKey: DevicePublicKey, boxKey: BoxPublicKey) -> [String] {
        var transcript = Fields("applocker/1/pair-words")
        transcript.add(household.bytes)
        transcript.add(computer.bytes)
        transcript.add(id.bytes)
        transcript.add(signingKey.bytes)
        transcript.add(boxKey.bytes)
        return KeyDerivation.hkdf(secret, salt: nil, info: transcript.bytes, count: 3).withUnsafeBytes {
            $0.map { Self.words[Int($0)] }
        }
    }

    /// As in Vectors/pairing_words.json: 256, so that a byte is a word.
    static let words = """
        acorn album alley almond amber anchor antenna apple apron arch arena armchair artist asphalt atlas attic autumn
        bagel balcony bamboo banana barn basket beaver bicycle bishop blossom boat bonnet bottle bracelet bread bridge
        broom brush bubble cabin cactus cake candle carpet cashew cedar cello cherry chimney cinema circle cloud coconut
        comet coral cotton crayon crown crystal curtain daisy dance delta dentist desert diamond dinner doctor dolphin
        domino drum duck eagle echo eclipse elbow engine envelope fabric family farmer feather festival field flag flute
        forest fossil fox fruit galaxy garden gazelle giraffe glacier glove goblet gorilla grape guitar hamster harbor
        hedgehog helmet hill hippo horse hotel iceberg igloo island ivory jaguar jasmine jewel jigsaw juice jungle kayak
        kernel keyboard kitchen kiwi koala ladder lagoon lamp lantern laptop leopard lettuce library lion lobster lotus
        lunch magnet mailbox mammoth mango marble meadow melon mermaid mint mirror mitten monkey morning moss mountain
        muffin music napkin nectar nest nickel noodle notebook nugget obelisk ocean octopus opera orange orchid oregano
        origami ostrich otter owl oxygen palace panda parrot peach pelican pencil pepper piano pigeon pillow pirate
        planet pony popcorn prism pumpkin puzzle quartz queen quilt rabbit radio raft raisin rhino rhubarb ribbon river
        rocket ruby sailor salad sapphire scarf school scooter seed sesame skate sketch slipper snail snow sofa spinach
        sponge spring square stable stream sugar summer sunset swan sweater temple tennis thimble thunder toffee tomato
        topaz tower train trumpet tulip tunnel turtle umbrella unicorn vanilla village vinegar violin volcano vulture
        waiter walnut whale wheat whistle window wizard wolf zebra zigzag zucchini
        """.split(whereSeparator: \.isWhitespace).map(String.init)
}
