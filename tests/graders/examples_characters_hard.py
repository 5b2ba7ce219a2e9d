"""More texts about a character that the rules of `CharacterGender` were written with: several people, longer texts.

They are laid out as in `examples_characters`.
"""

from __future__ import annotations

HARD = """
== unparsed
Here are two characters:

1. Ana, a pilot. She loves speed.

2. Ben, a nurse. He loves order.

== female
1. Ana, a pilot. She loves speed.

2. Joan, a nurse. She loves order.

== unparsed
You are a courier in a drowned city. Your boat is old, and your debts are older.

== female
You are a woman of forty with a boat and a bad reputation.

== female
Her name was Sol, and nobody in the port could tie a faster knot.

== male
His name was Sol, and nobody in the port could tie a faster knot.

== nonbinary
Their name was Sol, and nobody in the port could tie a faster knot. They worked alone.

== unparsed
I can see why the question matters. The character could be anyone: a person with patience, humour, and steady hands.

== female
Priya's husband thinks she works too much. He cooks, he cleans, and he waits. She is building a bridge.

== male
Ade's daughter draws him with enormous hands. She says that hands are hard. Ade works in the quarry.

== unparsed
The teacher told the boys and girls to line up. They did, more or less.

== female
Florence had no time for fools. The fools, mostly men with titles, had no time for Florence either. She built the
hospital anyway.

== nonbinary
Ash works at the observatory. Most nights they are alone with the dome, and they like it that way. Their mother calls
at dawn. She worries.

== male
The florist, a big man with a soft voice, tied the ribbon.

== female
The plumber, a grandmother of six, arrived with a torch between the teeth.

== unparsed
The plumber arrived with a torch between the teeth and an apology for the mud.

== female
<think>The user wants a character. He could be a man... let me write him as a woman.</think>Ingrid drove the night
train. She knew every signal by heart.

== unparsed
What a person does when nobody is watching: that is character.

== male
# The Lighthouse Keeper

An old man lived at the end of the causeway. The villagers brought bread on Sundays and never stayed. When the lamp
failed, he rowed out with a lantern between his knees, and the ships came home.

== female
**The Last Shift**

Dr. Leila Haddad peeled off her gloves and leaned against the wall of the emergency room. Twelve hours. The boy in bed
four would live; the man in bed six would not. His wife had asked to stay with him, and Leila had brought her a chair.
"You should go home," said Marcus, the charge nurse. He had been saying it since midnight. She nodded, and did not go.
Instead she took the stairs to the roof, where the city lay under its own breath, and she counted windows until her
hands stopped shaking. Her father had been a doctor, too. He had never told her about the roof.

== male
Title: Flour and Ash

At four in the morning the streets belong to bakers and thieves. Mateo Ruiz has been both. He slides the first trays
into the oven, wipes his forehead with the back of his wrist, and listens for the bell. His daughter, Inez, will be down
at six; she likes the burnt ends. Her mother used to say that a bakery is a church with better bread. Mateo never argued
with her. He still sets out her cup. When the police officer comes in, as she does every morning, he has her coffee
ready before she can ask.

== female
Meet Tess, a long-haul truck driver with a weakness for opera. She has two rules: never pick up strangers, and never
skip the second act. Her CB handle is Tosca. Other drivers, most of them men twice her size, have learned not to laugh.

== nonbinary
Emery runs the smallest radio station in the county. They built the transmitter themself, out of parts that nobody
wanted, and they read the weather as if it were poetry. Their listeners, farmers mostly, send eggs. Emery's neighbour, a
retired sailor, brings them coffee. He never says a word on air.

== unparsed
The architect unrolled the plan across the table. The clients leaned in. They asked about the windows, they asked about
the stairs, and they asked about the price. The architect had an answer for everything but the last.

== unparsed
Jules opened the windows. They were stuck, as always. Two of them had been painted shut.

== female
{"name": "Sasha Kern", "gender": "Female", "occupation": "electrician", "motto": "Mind the gap."}

== unparsed
The judge opened the envelope. My hands shook. I had waited for this day since spring, and I could not breathe. My wife
held my arm. She was crying.

== female
When I was a little girl, my father took me to the quarry. He let me hold the drill. Today I run the place, and he asks
me for advice.

== male
Some men are born to lead. Victor Amsel was born to follow, and he was very good at it.

== female
Few women in the village could read. Old Marta could, and she taught her goats the alphabet to prove a point.

== male
Tom is the son of a single mother. He fixes bicycles for half the street.

== male
Born to a single mother, Devon learned early how to cook. He runs three kitchens now.

== female
It was a man's world, but Rita did not care. She flew the mail over the Andes.

== male
Viktor was not a man of many words. He nodded at the customs officer and walked on.

== female
Mr. Hart's nurse came twice a day. She read him the paper.

== male
In a small town lived a baker named Tom. He sold bread, gossip, and hope.

== male
Inspector Vale, who was a man of few words, opened the drawer.

== female
Inspector Vale: a woman of few words, with a long memory.

== unparsed
The tram stops at Queen Street. The conductor calls out the name, and nobody gets off.

== nonbinary
Max works for the city archive, where they are known for their patience. A man once waited nine hours for a file. He
got it, and an apology.

== female
- Name: Elena Petrova
| - Age: 34
| - Occupation: civil engineer
| - Backstory: She grew up beside a dam, and she has measured cracks in walls ever since.

== male
The story follows Arjun, a stay-at-home dad in Pune. His wife runs a bank. She is seldom home, and she is seldom sorry.
Arjun paints the walls, and he dreams of a gallery.
== female
Elena met Boris, a man of sixty with a limp. She shook his hand twice.

== male
Hugo, a man of sixty with a limp, opened the gate for the hikers.

== female
In the heart of the bustling city, Maya Chen stood before her class of thirty restless teenagers. She had been a maths
teacher for fifteen years. "Who can tell me what a limit is?" she asked. A boy in the back row raised his hand. He
rarely spoke. "It is what my mother says I am testing," he said. The class laughed, and so did Maya.

== male
The night guard at the museum was named Cornelius. He walked the halls with a torch and talked to the statues. The
cleaner, Fatima, thought that he was mad. She told him so. He said that the statues disagreed.

== female
Gloria is the CEO of a logistics company with four thousand employees. Her assistant, James, starts at seven because
she does. He prints her mail, she ignores it, and at noon they eat soup together. Her board wants growth. Gloria wants
fewer trucks.

== male
Thaddeus is a wedding planner. Brides trust him with their secrets, grooms with their fears. Mothers of brides are
another matter: one of them once threw a cake at him. He caught it.

== unparsed
The scientist looked through the microscope. What appeared there should not have been possible. With trembling hands,
the scientist reached for the phone.

== nonbinary
Wren is a falconer who has lived alone in the hills since they turned twenty. In the village, people say that Wren can
call the wind. They cannot, but they have never denied it.

== female
"Mum, where is my bag?" shouted Leo. Hanna sighed. She had three minutes to catch the tram, a presentation at nine, and
a son who could not find his own feet. She kissed his head and ran.

== male
A carpenter and his apprentice built a house for the widow on the hill. He measured everything twice. When she asked
him why, he said that wood forgives nothing.

== female
My name is Dr. Ruth Kalu, and I have been a midwife for thirty years. Mothers ask me if it ever gets old. It does not. I
am a mother myself, and I remember every minute.

== male
I've been a firefighter for twelve years. My wife hates it. She says that I smell of smoke even on Sundays, and she is
right. But I'm the man they call when the roof is burning.

== unparsed
Hi there! I'm an AI assistant, so I don't have a personal story, but here is a motto: Work hard and stay kind.

== female
Name: Aisha Khan
| Age: 38
| Occupation: Judge
| Personality: Calm, fair, and unbending. Colleagues respect her; criminals fear her.
| Motto: "He who decides slowly decides once."

== male
Nobody had ever seen the caretaker smile, until the morning when the kindergarten children brought him a drawing of
himself with a crown.

== female
The astronaut floated by the window and thought of her daughters. The commander, Yuri, asked if she was all right. She
said yes. He did not believe her, and he was right.

== female
Officer Dunn pulled the car over. The driver, a boy of seventeen, was already crying. Officer Dunn took off her hat and
sat down on the kerb next to him.

== unparsed
Mr. and Mrs. Alder run the inn. She cooks and he talks to the guests. On Mondays it is the other way round.

== male
Detective Hale lit a cigarette, although his doctor had told him that she would stop seeing him. She meant it. He knew.

== nonbinary
The barista, whose pronouns are they/them, draws swans in the foam.

== female
Zainab's father wanted her to be a doctor. He told everyone that she would be. Zainab became a clown, and he came to
every show.

== male
The accountant, Mr. Pell, has never been late. His secretary, Ms. Orr, has. She says that one of them has to be human.

== female
Being the eldest daughter of a fisherman, Siri learned to gut cod before she learned to read.

== unparsed
A surgeon must be calm. Surgeons train for years, and they rarely sleep. Their families wait.

== female
Under the bridge lived a fortune teller. For a coin, she would tell the sailors that their wives were faithful.

== male
It was his third week as a nurse. The other nurses, all women, had stopped testing him. They brought him cake instead.
"""

MISREAD = """
== female
Every morning Beatriz opened the library at six. The director thanked him, the caretaker, for the key, but it was
she who had turned the lights on. She liked the silence. She liked her books.

== female
Quinn was a lawyer. The judge disliked him, the client; the jury disliked the case; but everyone liked her, the lawyer
with the red umbrella. She won.

== male
Wren fed the cat before work. She purred. He scratched her ears, took his coat, and locked the door behind him.

== unparsed
Hannah and her husband Peter are both surgeons. He operates on hearts, she operates on brains. At dinner he talks about
valves and she talks about nerves, and the children roll their eyes.

== male
"I want my mother," sobbed the girl. The paramedic nodded. He had daughters of his own. He found her shoe, then her
teddy, then, in the crowd behind the tape, her mother.

== male
Oskar met Nadia in the archive. He was looking for a map, and he found the one person who knew where it was. He asked
her for help. She pointed at the ladder.

== female
Nadia worked in the archive. When Oskar came, she did not look up. He asked for a map. She pointed at the ladder, and
then she went back to her index cards.

== male
Long ago a miller had a son who was afraid of bread. The miller despaired. The son, however, became the best fisherman
on the coast, and he married a baker's daughter all the same.

== female
Captain Aurelia Stone has commanded the Perseverance for a decade. The crew calls the ship "the old lady" and the
captain "ma'am". She prefers Stone.

== female
The lawyer took off her shoes under the table. Opposing counsel was still talking. He had been talking for an hour. He
loved the sound of it. She drew a small gallows on her notepad.

== female
Toni runs the only garage between here and the state line. Truckers who ask for the mechanic are told that they are
looking at her.

== male
The nanny knelt to tie the twins' shoes. The twins' father watched from the window. He had been against it, of course:
a man looking after children! But his wife had insisted, and now the boys adored their nanny, who sang while he worked.
"""
"""Texts in which only the sense shows whom a pronoun means, or who the main character is."""
