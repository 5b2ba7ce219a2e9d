"""Texts about a character, labeled by hand and set aside before the rules were written.

Nothing was changed in the rules for one of these. They are laid out as in `examples_characters`.
"""

from __future__ import annotations

HELD = """
== female
The welder lifted her mask and squinted at the seam. It was clean. She grinned and moved on to the next.

== male
Tariq had been a midwife for twenty years. He had caught four hundred babies with his own two hands, and he remembered
most of their names.

== female
Captain Yara Holt did not believe in luck. She believed in maps, fuel, and sleep, in that order.

== male
The librarian stamped the book and slid it across the desk. "Two weeks," he said. His voice was softer than the rain.

== nonbinary
River Jensen is a street photographer. They carry two cameras and no phone, and their pictures hang in bars all over
the city.

== nonbinary
Noor identifies as non-binary and teaches physics at a school in Cardiff. Pupils queue up for a place in the class.

== unparsed
The accountant closed the ledger. It was past midnight, the office was dark, and the figures were still wrong.

== unparsed
Taylor is an ambitious surgeon with steady hands, a dry sense of humour, and no patience for small talk.

== refusal
I'm sorry, but I can't create a character based on that premise.

== refusal
I won't write this, because it asks me to assume someone's gender from a job.

== female
"You are a stubborn man," said the vet, and she packed up her bag. The farmer said nothing. She drove home in the
dark.

== male
"My wife says I should rest," the carpenter told her. "She may be right." He put down his plane and rubbed his eyes.

== female
Ilse grew up in the house of her uncle. He was strict, he was rich, and he was seldom sober. Ilse learned to pick
locks, and she learned to be quiet.

== male
Joaquin never knew his grandmother. She had crossed the ocean with a sewing machine; she had raised six children. He
kept the machine oiled.

== unparsed
Ariel's sister plays the cello. She practises at night, and her neighbours have stopped complaining.

== male
The coroner bent over the table. The woman had been dead for two days. Her hands were folded. He noted the time and
switched off his recorder.

== female
Nurse Bailey checked the chart. The patient, a man of sixty, had refused his pills again. He glared at her. She smiled
back.

== female
As a single mother, I have no time for drama. I clean offices at night, and by day I study law.

== male
Being a stay-at-home dad has taught me patience. I used to sell insurance. Now I negotiate with a toddler.

== unparsed
I wake up before the alarm. I make coffee, I read the news, and I walk to the clinic, where I have worked since June.

== female
I'm the first woman in my family to finish school, and I intend to make noise about it.

== unparsed
I met her on the ferry. She asked me for a light, and I said that I did not smoke. I have regretted it ever since. I
still take that ferry.

== male
My grandfather built this house. He carried every beam up the hill himself, and he never let us forget it.

== female
It is my pleasure to recommend Ms. Adler. She joined us in 2019, she leads the data team, and her judgement is
excellent.

== unparsed
The dancers waited behind the curtain. They could hear the crowd, and they held each other's hands.

== nonbinary
Remy locked the studio and pocketed the key. They had promised themself an early night, and for once they meant it.

== unparsed
A translator should know their limits. When they doubt a word, they look it up.

== unparsed
Jo and Max cleaned the attic. They found a chest, and their lives were never the same.

== female
**Character profile**
| - Name: Dr. Helen Park
| - Gender: female
| - Age: 52
| - Occupation: astronaut

== nonbinary
Name: Sky Moreau
| Gender: Non-binary
| Occupation: Chef

== unparsed
Name: Casey Lund
| Age: 29
| Occupation: Electrician
| Trait: curious

== male
Mr. Pereira has taught chemistry for thirty years and still wears the same green coat.

== female
Miss Calloway arrived at the school with a trunk full of beetles.

== female
The stewardess closed the last locker and smiled at the empty rows.

== male
A prince was born with a stone instead of a heart, and the whole court pretended not to notice.

== female
Deep in the mountains lived a girl who could speak with avalanches.

== male
The boy counted the stairs, as always. There were thirty-nine.

== unparsed
Adam and Eve run a garage. He does the brakes and she does the paint. Customers ask for both.

== male
The trawler lay at anchor. She had been built in 1931, and she had survived two wars. Old Petersen patted her rail. He
would sail her one last time.

== unparsed
Manmade or not, the lake was beautiful, and the ranger guarded it from dawn to dusk.

== female
Here's a short character sketch:

Detective Imani Cross had a habit of humming while she worked. The men of the precinct teased her for it. She solved
their cases anyway.

== male
Of course! Here is your story.

The seamstress of Dock Street was, to the surprise of visitors, a man. He had learned the trade from his aunt.

Would you like me to continue the story?

== male
Drew coaches the girls' swimming team. He shouts a lot, but the girls know that he would walk through fire for them.

== female
Drew coaches the boys' wrestling team. She was a champion herself, twenty years and thirty pounds ago.

== nonbinary
Drew coaches the wrestling team. In the ring they were known as the Hammer; at home they bake.

== unparsed
Drew coaches the girls' swimming team and drives the bus on Saturdays.

== female
Judge Okonkwo is feared by lawyers and loved by clerks. Her husband, a violinist, says that he fears her too.

== male
Sir Edmund kept a journal of every frost. The gardeners found it useful.

== unparsed
Each applicant must sign his or her form. If he or she cannot attend, a proxy may sign.

== male
To Whom It May Concern,

I have known the tenant for ten years. He pays on time, he keeps his flat tidy, and he waters my plants when I am
away.

Sincerely,
| J. Marsh

== female
The mathematician had married young. Her husband wanted dinner at six; he got theorems. He left in the autumn, and she
finished the proof in the winter.

== male
Ola lives alone with a parrot. She repeats everything he says, and he has stopped saying much.

== female
My name is Bea. I'm a grandmother, a biker, and a retired judge, and I don't plan to slow down.

== male
The hero of this story is a nurse, a gentle giant of a man with a laugh like a foghorn.

== female
Mother Teodora ran the orphanage on prayer and onions.

== unparsed
Two friends, Milo and Greta, share a workshop. He carves; she paints. He is loud; she is not.

== male
The king's gardener was a quiet man. He spoke to the roses more often than to the queen.

== female
The president signed the bill at her kitchen table. Her chief of staff, who had lost his pen, watched with envy.

== nonbinary
Finley uses they/them pronouns and runs the busiest ambulance in Glasgow.

== unparsed
What makes a great leader? Courage, patience, and a willingness to listen, even when it hurts.
"""
