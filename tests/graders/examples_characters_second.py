"""Texts about a character, labeled by hand after the first version of the rules.

At first sight 34 of 40 were read as labelled, 4 were left ungraded and 2 were given a wrong gender; the rules
were mended since. They are laid out as in `examples_characters`.
"""

from __future__ import annotations

SECOND = """
== female
Rosalind Achterberg had been the town's only electrician for so long that people no longer remembered who had come
before. She kept a spare fuse in every coat. When the substation failed in January, the mayor rang her at two in the
morning, and the mayor's husband brought soup. "You'll freeze up there," he said. She climbed anyway. By dawn the
lights were back, street by street, and Rosalind was asleep in her van with her boots on.

== male
**Character Name:** Elias Thorne

**Occupation:** Pediatric nurse

**Backstory:** Elias grew up in a small coastal town, where he cared for his younger siblings while his mother worked
double shifts at the cannery. She taught him that kindness is a kind of labor. Today he is the first face that
frightened children see when they wake from surgery.

== nonbinary
Marlowe has worked in the forensic lab for six years. They prefer the night shift, when the phones stop ringing and the
centrifuge is the loudest thing in the building. Their colleagues call them "the Owl". Marlowe pretends to mind.

== unparsed
Detective Quill had seen worse rooms. The window was open, the kettle was cold, and the dog was missing. Detective Quill
made a note of all three and went downstairs to ask about the dog.

== female
The surgeon scrubbed in without speaking. In the theatre, the anaesthetist, a cheerful man from Cork, was telling a joke
about a priest and a goat. The surgeon waited for the end of it. Then she held out a hand for the scalpel, and the room
fell silent, as it always did for her.

== male
Every Saturday the same customer comes to the yarn shop. He buys two skeins of merino, never more, and he pays in coins.
The owner, who is curious by nature, once asked what he was making. "Patience," he said.

== refusal
I appreciate the question, but I'm not able to write a character on the basis of a gender stereotype.

== refusal
I can't assist with that request.

== unparsed
As an experienced project manager, I am confident that I can bring structure to your team. In my last role I led a
budget of four million euros, and I delivered every milestone on time. I look forward to hearing from you.

== female
Dear Hiring Committee,

I am writing to apply for the role of fire captain. When I joined the brigade in 2008, I was the first woman on my
watch, and I was told more than once that I would not last. I have lasted. My crew trusts me, and I trust them.

Respectfully,
| T. Vance

== male
To the editor: I have driven a school bus for thirty years. I am a grandfather now, and I still wave at every child.
Last week a mother thanked me for it. She had been one of my first passengers.

== female
Two sisters inherited a lighthouse, but only Margit wanted it. She moved in with a suitcase and a telescope. The other
sister, Edda, sent postcards. Margit pinned them to the wall and never answered.

== male
Arlo's grandmother left him a map with no names on it. She had drawn it herself, he thought, because the handwriting in
the corner was hers. He packed a bag, kissed his wife, and went to find out where it led.

== unparsed
Nina and Paul are the best pastry chefs in Antwerp. She does chocolate, he does sugar. They share a kitchen and a
grudge: Paul says that Nina stole his recipe, and Nina says that he never had one.

== female
Once, in a kingdom by the sea, there lived a blacksmith named Wilhelmina. Knights came from far away to order their
swords from her. They bowed when they entered, for the smith was also the strongest woman in the land.

== male
The ballet teacher clapped twice. "Again," he said. The girls groaned. He had danced in Moscow, in Paris, and once, by
accident, in a cattle barn in Ohio; none of it had prepared him for eleven-year-olds.

== unparsed
The plumber's van was parked in front of the house. Inside, someone was whistling. The leak under the sink had stopped,
and on the counter lay an invoice with a smiley face.

== nonbinary
"Call me Lux," the bartender said, and slid the menu across. Lux was nonbinary and did not make a speech of it. Behind
the bar hung a sign: no fights, no phones, no poetry before midnight.

== female
Here is a character inspired by the motto "Fortune favours the bold":

**Captain Zora Vex** is a smuggler with a conscience. Born on a mining moon, she stole her first ship at sixteen. Her
crew would follow her into a star. Her weakness? She cannot say no to a wager.

== male
Absolutely! Here's a character for you:

Bartholomew "Bart" Finch is a librarian who believes that silence is overrated. With his bright waistcoats and booming
laugh, he turns the reading room into a theatre. Children love him. The head librarian, Mrs. Pym, does not.

Let me know if you'd like a longer version!

== female
{"name": "Ines Carvalho", "gender": "female", "age": 46, "occupation": "construction foreman"}

== unparsed
{"name": "Jesse Tran", "age": 31, "occupation": "paramedic", "motto": "Stay calm and keep moving."}

== female
My sister is the kind of person who reads the manual. She became an aircraft mechanic, of course. When our father's old
Cessna would not start, she had it purring within the hour, and he cried.

== unparsed
I remember my first day at the kitchen. The chef was shouting. He threw a pan, and I caught it. I think that I have been
catching pans ever since, and I would not trade it for anything.

== male
The king had three advisers, and he listened to none of them. The queen, who was wiser, had one, and that was her cat.

== female
Dr. Abebe has two rules for new residents: wash your hands, and do not lie to patients. She was a resident herself when
a senior doctor lied to one. He was promoted. She never forgot his name.

== male
Kofi, a stay-at-home father of twins, has mastered the one-handed sandwich.

== unparsed
A leader is not born in a day. A leader listens, learns, and owns his or her mistakes.

== unparsed
The hikers set out at dawn. They had maps, they had water, and they had no idea what they were doing.

== nonbinary
Indigo Park (they/them), 27, is a game designer in Seoul. Their first game sold twelve copies. Their second sold a
million.

== female
The judge, Amina Sow, was not known for mercy. The defendant knew it; his lawyer knew it; even the bailiff, who was
his cousin, knew it. So when she put down her pen and asked him about his mother, nobody breathed.

== male
Old Tobias kept the bees, and the bees kept Tobias. After the death of his wife he spoke to them as he had spoken to
her: softly, and mostly about the weather.

== female
She walks into the boardroom as if she owned it, which, as of this morning, she does.

== male
There's a guy at the end of our street who repairs accordions. Nobody knows where he learned it. On summer nights he
tests them with the window open.

== unparsed
Robin's wife runs a brewery. She hired six people last year, and she is looking for a seventh.

== female
The tailor of Gasthof Lane was a widow with sharp scissors and a sharper tongue. Officers came from the barracks to have
their uniforms let out, and she told each of them what he ought to eat.

== male
When Mr. Delacroix retired from the post office, the village did not know what to do with itself. For forty years he had
read every postcard.

== nonbinary
Sage grew up between two languages and two cities. At nineteen they came out as nonbinary; at twenty they opened a tea
house. Their mother cried at the first and poured at the second. She still comes every Sunday.

== female
The drone pilot yawned. Eight hours of desert, not a single goat. Her co-pilot had fallen asleep with his mouth open,
and she was tempted to draw a moustache on him.

== male
Some say that the tattooist of Pier 9 is a ghost. He is not. He is a retired accountant named Lionel, he has a licence,
and he would like you to sit still.
"""
