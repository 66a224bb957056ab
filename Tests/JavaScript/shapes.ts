// shapes.mjs compiles this with the samples of Vectors/messages.json. `Gaps` lists what a type has and no sample shows,
// one sentence each; it stops at types that are messages themselves.

/** The companion's types by the name of the Swift type: shapes.js adds them. */
interface Messages {}

type Same<One, Other> =
    (<Type>() => Type extends One ? 1 : 2) extends <Type>() => Type extends Other ? 1 : 2 ? true : false;

type IsMessage<Type> =
    true extends { [Name in keyof Messages]: Same<Type, Messages[Name]> }[keyof Messages] ? true : false;

type Gaps<Type, Sample, Path extends string> =
    [Type] extends [readonly (infer Element)[]]
        ? NestedGaps<Element, Sample extends readonly (infer Item)[] ? Item : never, `${Path}[]`>
    : [Type] extends [string | number | boolean] ? MissingWords<Type, Sample, Path>
    : Type extends object
        ? { [Name in keyof Type & string]-?: PropertyGaps<Type, Name, Sample, Path> }[keyof Type & string]
    : never;

type MissingWords<Type, Sample, Path extends string> =
    Type extends string
        ? string extends Type ? never : Type extends Sample ? never : `${Path}: no sample has "${Type}"`
    : never;

type NestedGaps<Type, Sample, Path extends string> =
    [Sample] extends [never] ? `${Path} is in no sample`
    : IsMessage<Type> extends true ? never
    : Gaps<Type, Sample, Path>;

type PropertyGaps<Type, Name extends keyof Type & string, Sample, Path extends string> =
    | NestedGaps<NonNullable<Type[Name]>, Sample extends Record<Name, infer Value> ? Value : never, `${Path}.${Name}`>
    | ({} extends Pick<Type, Name>
        ? [Sample extends Record<Name, unknown> ? never : true] extends [never] ? `${Path}.${Name} is in every sample` : never
        : never);

/** Not `never`: the compiler's error would not contain the sentence. */
type None<Gap extends "no gap"> = Gap;

/** Each kind of drift has to be an error: an expected error that is missing is one. */
namespace Drifts {
    interface Message {
        name: string;
        state: "on" | "off";
        note?: string;
        list: { id: string }[];
    }
    const samples = [
        { name: "", state: "on", list: [] }, { name: "", state: "off", note: "", list: [{ id: "" }] },
    ] as const;
    type Sample = typeof samples[number];

    const right: Message[] = [
        { name: "", state: "on", list: [] }, { name: "", state: "off", note: "", list: [{ id: "" }] },
    ];
    type Right = None<Gaps<Message, Sample, "Message">>;

    // @ts-expect-error A property that the type lacks.
    const unknownProperty: Message[] = [{ name: "", state: "on", list: [], more: 1 }];
    // @ts-expect-error The same inside.
    const unknownInside: Message[] = [{ name: "", state: "on", list: [{ id: "", more: 1 }] }];
    // @ts-expect-error A property that the sample lacks.
    const missingProperty: Message[] = [{ state: "on", list: [] }];
    // @ts-expect-error A literal that the type lacks.
    const unknownLiteral: Message[] = [{ name: "", state: "away", list: [] }];
    // @ts-expect-error Another kind of value.
    const anotherKind: Message[] = [{ name: 1, state: "on", list: [] }];
    // @ts-expect-error A property of the type that no sample has.
    type UnusedProperty = None<Gaps<Message & { more?: 1 }, Sample, "Message">>;
    // @ts-expect-error The same inside.
    type UnusedInside = None<Gaps<{ list: { id: string; more?: number }[] }, Sample, "Message">>;
    // @ts-expect-error A literal of the type that no sample has.
    type UnusedLiteral = None<Gaps<{ state: "on" | "off" | "away" }, Sample, "Message">>;
    // @ts-expect-error A property that is optional only in the type.
    type OptionalAlone = None<Gaps<{ name?: string }, Sample, "Message">>;
    // @ts-expect-error A case that no sample has.
    type UnusedCase = None<Gaps<{ open: {} } | { shut: {} }, { readonly open: {} }, "Message">>;
}
