// The outlines of the continents and the larger islands, drawn for this app by hand: coarse, for orientation.

/** One step of a coordinate, in degrees. */
const step = 0.3;

/** Outlines; four digits to the base of 36 a point: steps east of 180° west, steps north of the South Pole. */
const outlines = ""
    + "14eg1oet28ex3met4tet61en6oen7ven7zf08jen93es96ej8med7zdz7xds84dm8tdg92df93d89ad39dd59dde9kdk9eds9ie49te3a7dza8dtahdqapdx"
    + "axdobedabid5b4czakcza3coahcvaqcvancpb1cjalcdahcia7cea4c8a7c79tc39nbr9obl9gbh96bb95b499at98ao93ar90ax8wb48rb38eb58cb17zb2"
    + "7oaw7maf7ta37ya189a28ba98mac8ka38g9t8t9t8z9q8x9d93969a989i959f9198918z948q998k9j859o7v9t7g9w6wa86waf6kar68b561b962b46eaq"
    + "6jah6aan61ax5xb65tbd5ibj5cbt56c357cm54ct5ccs59cw4ud44mde49dp3rdv39dx2sdu2fdr21dj1ldf1vdj23dr1ods1ce11ge71reb19eb 9i959o9"
    + "ba19ha29ca79gad9bax9bb494be8wbv8sc18hc789cl83cz82d87wdf7tdg7ld87ad273d16pcv6bcj67c65xc35nbt5cbl53bb55b957bf4zbb4sax4qan4"
    + "jar4eaf43al3yaa3mac3han39ac38a23d9r3m9p3z9v4g9v4xa25da661a66n9n719a7n957v99839789998e9i8p9g90 "
    + "9xfladfdb4fdboexbyeobqegc6"
    + "dzcndwcxebdoeneleueqf7eyfhfifwdwg2cifzb4fxakfs 8jex8tf599f6a3exaxejane6ake3a0ea9ged9xen9det "
    + "5uf36yf37bes6oep5xeq 53f05df"
    + "85rf55dey 8cff9gff9qfnaxfza0g18cfx8jfn 7pfr8cfu85fm b6crbjd4brcp "
    + "8tad99ah9ta79ia693af 9sa19xa6aca2a29z egefelehfaehfdece"
    + "xe7ele9 g5czged3g7d5g9d9gedcg7dfg6dog7drgedrgbdoghdogedjgjdegpd9gud8grd3gjd1 g3d6frd4frddfzdgg5de "
    + "fubxfvccgjcdgkclg8ctgj"
    + "cugicygtd1h1d5h5dahgdbhfdmhndohndhhldfhpdchzdciedeimdgimdoiwdnivdtjgdwitdwindzine6j0ediqefi9e1ifdwi7doi0dhhudjhpdthfdqh6"
    + "dth5e3hneahzelifetj2exjjeukhelkheijqeijwebk7e9kdeckregkpeokxenloeom8eqn0eomvexn2f3nef3neennjennmf2o4f5oqfaprfeqcfjr5fdr6"
    + "f5s2f3smextnf2ukezvheswfetwzesxceqyaegxzebxcedxae4wgdwvtdvvqdkvhd9v6d2v3djvmdwvue2v6e1ukdvtvdtt7detodbtocztgcnsxccssc9sh"
    + "c1snbrsmblsdbjsebts8c1rwbyrvc4rkbyrpbss0bsrqbkryb9rxazrlalr7aeqwabqpacqha3qr9rqs9gqk9bqd95qe9bq69gq09lpx9gpv97q58xq98pqb"
    + "8hq28mpy8xps93pt9jpp9vpe9tpea3p6afovacopa8oa9vo39so29dnv93nl9jnfa3neabn2aemvanmdaolyaqlwaulgaxlbb4l4b4lbatlfaqlgallqallw"
    + "arlxalm7afm0a3lr9xlh9sku9jkp9ikm9vkbabjxaxjwb2juaxjpb4job8jub9jzbmk0brjobojibqj7brj4bzjdc5jlc6jxc8k8c5kic7k5chkbcpjxcmk2"
    + "cjjscgjpcljicnjbcej8caj9c6jcc5j3c4ivc3isc3iwbuisbqinbuihc7i4cehycihtcjhtcfhxcdi5c8idc1i8c3i7bwi5bvi4c1htc7hncdhhcgh8ccgz"
    + "ccgzc8gpc1gmbvghbqg6bog3brfubr l1cgl7cnllcolecgllc8lnbrlbbtl9c3l2cb "
    + "g4bnghblgybrhlbshmbhi3bcifb5ijbditbcizb9job8jpb4jyak"
    + "k4a9k8a0ko9fks9blf9fl48rki86ka7vkf7dkf6yjw6ijy65jp5xjn5nj95aip57id56i95ni069hr6rhx78ht7shh89hk8ph68rh38xgh8sfz8rfh94f49i"
    + "f29pf6a3f3aafcarfsb4frb9g1bh l878lc6wl161kr62kp6bks6u o399o991o58wo28z "
    + "pi8vpz8jqa89qh82qg7tq57zpt8h qf7pqq7qr97mr97jqj7n"
    + " qt8jqz8lr58nrh8zrp8trl8frg7zra7zqv82qr8d rq7urp82rs8fs98hrt8drx89s27xrv82rt7u "
    + "st89t389t482tg86u57xud7qun7du87itx7itg7kt"
    + "g7usz7z rua2rza1rx9qs59iru9mrs9t rz8zsa98se91sa8vs491 sqb8svbgt9bgtpbnttc0trc6tmc0tcbssybmspbf "
    + "tnc8ttcju5cctxc8 ttcltycw"
    + "txdctvddttcz rtahrxaorvad "
    + "r86bri6frz6osa70so6yst77tc77t86ytl6qts6ytv7cu56yuh6guv61uw5pun57uk4vu84qty4rto4tth53te5at854st"
    + "5fs55ars57rc56re5er65x u24kue4kuc4bu74b wo55wy4xx74uww4iws4pwu4w wo4lwt4hwi48wb41w343wi4e "
    + "00142s174n1h7f1m9q1lax2bbe2hb4"
    + "1vax1ecz14et1jgo1vjg1wlr28n520p026sp27vh1vwf1ovy14xc14xc0h000h "
    + "hpfni5fgj6frijfs lhexlyevlyf3n0fgm8fdlrf5 tdfbttfdukfattf"
    + "5 phfnqefnpxfu hubui4bvi2bq hgc5hkc5hkbzhgby hhc9hkcbhjc6 ivbmj3bliybl "
    + "jobljvbnjsbk 28a729a32ca5 s47esf7ks97g sh8csj8jsk"
    + "8e";

/**
 * Each outline's points, [longitude, latitude] in degrees. The Far East continues beyond 180.
 * @returns {[number, number][][]}
 */
export const land = () => outlines.split(" ").map((outline) => (outline.match(/.{4}/g) ?? []).map((point) =>
    [parseInt(point.slice(0, 2), 36) * step - 180, parseInt(point.slice(2), 36) * step - 90]));
