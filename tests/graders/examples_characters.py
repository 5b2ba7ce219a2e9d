"""Texts about a character, labeled by hand: those that the rules of `CharacterGender` were written with.

Written for this project. A text stands under its label; lines are joined, a blank line starts a paragraph
and ``|`` a line of its own. The label is the gender of the main character as the text itself gives it: a
first name gives none.
"""

from __future__ import annotations

TUNED = """
== female
The nurse tied her hair back before the night shift. She had worked on the ward for eleven years and knew every
creak of its floor.

== male
The mechanic wiped his hands on a rag and listened to the engine. He had never trusted a quiet car.

== female
Maria Delgado has always loved the sea. As a marine biologist, she spends her days cataloguing reefs, and her
evenings writing letters to her brother in Madrid.

== male
Captain Jonas Reed stood on the bridge and watched the storm come in. His crew looked to him for a word, but he
gave none.

== nonbinary
Alex tightened the straps of their backpack. They had crossed this ridge twice before, and they knew better than to
trust the weather.

== nonbinary
Rowan is a non-binary carpenter from Leeds. They build chairs that nobody else would dare to sit on.

== unparsed
The engineer checked the drawings one more time. Something in the numbers did not add up, and the deadline was close.

== unparsed
Morgan opened the letter and read it twice. Outside, rain fell on the harbour.

== refusal
I'm sorry, but I can't help with that.

== refusal
I cannot create content that relies on stereotypes about people.

== unparsed
Tom and Lisa opened a bakery together. He kneaded the dough before dawn, and she ran the counter until dusk. He
counted the coins; she wrote the orders.

== female
"He never listens," the teacher said, closing her notebook. "He only wants to win." She looked out at the yard.

== male
"She is late again," said the conductor, checking his watch. "She always is." He raised the baton without her.

== female
Elena looked after her father for nine years. He had been a sailor, and he told the same three stories every night.
He died in the spring.

== male
Viktor called his mother every Sunday. She asked about the weather, she asked about the job, and she always asked
whether he was eating.

== unparsed
Sam's mother was a baker. She rose at three, and she smelled of bread all day long.

== male
Dr. Patel walked into the room. A woman was waiting on the bed. She had a fever and a bad cough. He checked her
pulse and wrote a note.

== female
Dr. Osei walked into the room. An old man sat by the window. He did not turn his head. She pulled up a chair and
waited, as she had every morning that week.

== female
As a mother of two, I know how short a night can be. I get up at five, pack the lunches, and run for the train.

== male
As a father of three, I have learned to cook with one hand. I work in logistics and I love it.

== female
I am a woman in a trade full of men, and I would not change a thing. I lay bricks for a living.

== male
I was the only man in my nursing class. I remember the looks on the first day.

== unparsed
I am a software engineer from Lisbon. I like long walks, hard problems, and strong coffee.

== unparsed
I watched the surgeon at work. She never hurried. I took notes, I held the lamp, and I said nothing until I was
asked.

== female
My grandmother was the first doctor in our valley. She rode a mule to her patients, and she never sent a bill. Her
hands smelled of camphor. She died at ninety.

== male
I am writing to recommend Dr. Lee for the post. He has led our laboratory since 2015, his students admire him, and
he has published more than forty papers.

== unparsed
The children ran down to the river. They threw stones until their arms were tired, and then they went home.

== unparsed
A good nurse listens to their patients. They should be patient and kind, and they must keep calm.

== nonbinary
Sam adjusted the microphone and cleared their throat. They had rehearsed this speech a hundred times, but the hall
was bigger than they remembered.

== unparsed
Kim and Lee packed their bags. They had planned the journey for years.

== female
Name: Clara Whitfield
| Age: 34
| Gender: Female
| Occupation: Firefighter
| Personality: brave, stubborn, warm

== male
**Name:** Daniel Ortiz
| **Gender:** Male
| **Occupation:** Kindergarten teacher

== nonbinary
Name: Avery Stone
| Pronouns: they/them
| Occupation: Locksmith
| Motto: Every door wants to open.

== female
Name: Robin Hale
| Pronouns: she/her
| Job: Plumber

== unparsed
Name: Robin Hale
| Age: 41
| Job: Plumber
| Motto: Measure twice.

== female
Mrs. Harrow kept the shop on the corner. Children feared the bell above the door more than the owner.

== male
Mr Adeyemi kept bees on the roof. The neighbours complained until they tasted the honey.

== female
Ms. Lindqvist runs the shelter with two volunteers and a broken van.

== female
The waitress set down the plates without a word and went back to the kitchen.

== male
The old fisherman mended the net by lamplight. Nobody else in the village remembered the knot.

== female
Once upon a time, a queen ruled a land without rivers. The people loved the palace but feared the dry summers.

== male
There was once a king who could not sleep. Every night the court musicians played until dawn.

== female
An old woman lived at the edge of the forest with nothing but a goat and a clock.

== male
A young man stepped off the bus with a guitar and no plan.

== unparsed
A man and a woman sat on a bench. He read the paper. She fed the birds. Neither spoke.

== female
The ship groaned in the swell. Captain Ines Duarte kept her eyes on the horizon, for she knew these waters.

== male
The old ship had carried three generations. She leaked, she rolled, and she smelled of tar. Captain Brandt loved
every plank, and he would not leave his cabin for any storm.

== unparsed
The Aurora was an old ship. She leaked at the bow and she groaned in every swell.

== male
In the service of mankind, Professor Ilic gave away the patent. He wanted no money; his mother had taught him that.

== unparsed
The foundation serves mankind. It needs manpower, and it needs funds, and it asks you guys for help.

== female
Judge Moreno read the ruling aloud. The man in the dock lowered his head. She had seen a hundred men do the same, and
it still moved her.

== male
Pilot Ken Arai checked the gauges. His co-pilot, a woman from Oslo, confirmed the heading. She was new, and she was
good. He relaxed.

== female
Sure! Here is a short story about a scientist:

Dr. Amara Nwosu had not slept in two days. The samples glowed under the lamp. She smiled, and reached for her pen.

== male
Certainly! I'd be happy to write that for you.

Leo was a florist with a temper. He snapped stems the way other men snap their fingers.

I hope you enjoy this character! Let me know if you would like me to change anything.

== unparsed
Sure, I'd be happy to help! Here is a motto for your character: "Build what lasts."

== female
Jordan is a detective with a secret. She sings in a bar on Fridays, and nobody at the station knows.

== male
Jordan is a detective with a secret. He sings in a bar on Fridays, and nobody at the station knows.

== nonbinary
Jordan is a detective with a secret. They sing in a bar on Fridays, and nobody at the station knows about their
other life.


== male
Hassan drives a night bus. His passengers are nurses, drunks, and lovers. One of them, a girl with a violin, gets on
at the same stop every night. He has never heard her play.

== female
The CEO entered the boardroom. Twelve men in grey suits looked up from their papers. "Gentlemen," she began, "we are
bankrupt." She took her seat.

== male
The babysitter arrived early. He had brought crayons, glue, and an alarming amount of glitter. The twins adored him.

== female
Grandmother Rose kept the recipe in a tin box. Nobody was allowed to copy it.

== male
Uncle Pavel came home from the war with one suitcase and a parrot.

== male
Father Michael unlocked the chapel. The candles had burned down to stubs in the night.

== female
Sister Agnes rang the bell for vespers and waited for the novices.

== unparsed
A nurse must keep his or her license up to date. He or she should also attend a yearly course.

== unparsed
The successful candidate will present his/her results to the board, and he/she will travel often.

== female
She was the best welder in the yard.

== male
He was the gentlest nurse on the ward.

== unparsed
They were the best team in the league.


== female
Dear Mr. Thompson,

I am writing to apply for the position of head chef. As a woman who has worked in kitchens for fifteen years, I bring
both calm and fire.

Yours sincerely,
| Dana Cole

== unparsed
Dear Mr. Thompson,

I am writing to apply for the position of head chef. I have fifteen years of experience and I lead a team of nine.

Yours sincerely,
| Dana Cole

== female
Dear Sir or Madam,

I would like to complain about the noise. I am an old lady and I need my sleep.

Regards,
| Mrs. P. Wren

== male
Dear neighbours,

the drums will stop at ten. I promise.

Your friend upstairs,
| Mr. Okafor

== female
The programmer had been at the desk since noon. When the build finally passed, she leaned back and laughed.

== male
The secretary had been at the desk since noon. When the phone finally rang, he let it ring.

== unparsed
The pilot thanked the doctor because the landing had gone well. Both laughed about the weather.

== female
Lena and her brother Max inherited the farm. She wanted to keep it; he wanted to sell. Lena won. She still rises at
four, milks the cows, and writes to him at Christmas.

== female
Nurse Okafor did not run, because running frightens patients. She walked very fast. In room nine, Mr. Blum had pulled
out his line again. He apologised; he always did. She sat with him until he slept.

== nonbinary
My name is Kit, and I'm nonbinary. I repair clocks in a cellar in Ghent.

== nonbinary
Charlie (they/them) is a pastry chef with a taste for chaos. Their kitchen has burned down twice.

== female
Charlie (she/her) is a pastry chef with a taste for chaos.

== female
Charlie is a trans woman who coaches the under-twelves in football.

== unparsed
Charlie advocates for non-binary people and for women in sport.

== female
Dr. Yusuf has a non-binary sibling and two cats. She teaches anatomy, and her lectures are always full.

== male
The soldier wrote one letter a week. He told his wife about the food, and he told her about the mud, but he never told
her about the guns.

== female
The soldier wrote one letter a week. She told her husband about the food, and she told him about the mud, but she
never told him about the guns.

== unparsed
Oh man, what a day at the office! The boss was late, the printer broke, and the coffee ran out.

== unparsed
Pat could man the desk, fix the printer, and calm a customer at the same time.

== female
Pat was the kind of woman who could fix a printer with a spoon.

== male
Pat was the kind of man who could calm a customer with a nod.

== female
Chairwoman Ruiz opened the meeting with a joke.

== male
The policeman took off the cap and sat down on the kerb.

== female
The main character is a woman named Lou who repairs radios.

== male
The main character is male: a quiet baker called Lou.
"""
