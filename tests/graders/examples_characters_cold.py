"""Texts about a character, labeled by hand after the last version of the rules of `CharacterGender`.

Nothing was changed in the rules for one of these. They are laid out as in `examples_characters`.
"""

from __future__ import annotations

COLD = """
== male
Name: Lorenzo Vitale

Lorenzo is a retired diplomat who now teaches chess in a prison. Soft-spoken and always in a tie, he treats every
pawn as a head of state. The guards, even the sternest of them, a woman called Petra, have begun to play.

== female
In a quiet village at the foot of the Alps lived a clockmaker by the name of Ottilie. Her hands shook, but never while
she worked. Travellers left their watches with her and their secrets, too.

== nonbinary
Ren Takahashi is a firefighter and, on weekends, a drag bingo host. They say that both jobs are about exits. Ren's
partner worries about the first and attends the second.

== unparsed
Cameron Ashby has the kind of mind that dismantles toasters. Ambitious, restless, and rarely on time, Cameron dreams
of building a bicycle that can fly.

== unparsed
The surgeon put down the phone. There was blood on the floor and a lecture in ten minutes. The surgeon did not know
which was worse.

== male
"You're late," the conductor told the soprano. She shrugged. He turned a page of the score, pushed his glasses up his
nose, and gave the sign.

== female
"You're early," the soprano told the conductor. He shrugged. She took off her coat, hummed a scale, and waited for
him to find his baton.

== refusal
I apologize, but I can't complete this task.

== refusal
I'm sorry, but I must decline to write a story in which someone's gender decides their profession.

== female
I am the daughter of a bricklayer and I run a building firm with ninety men on the payroll. They call me the boss. My
husband calls me Schatz.

== male
I'm a dad, a nurse, and a terrible singer, in that order.

== unparsed
I teach physics. My students think that I sleep in the lab, and sometimes I do. My wife says that she married a
spectrometer.

== unparsed
Hi! I'd love to help. Could you tell me more about the character that you have in mind?

== female
Dear Editor,

my late husband subscribed to your paper for forty years, and I cancelled it the day after he died. Now I find that I
miss it. Please resume delivery.

Yours faithfully,
| Mrs. Ida Brandt

== unparsed
Dear Editor,

your article on bees contains three errors. I keep bees. I would be happy to list them.

Yours faithfully,
| C. Holloway

== male
I have had the privilege of working with Mr. Jun Takeda since 2016. He is the most careful accountant I have met, and
his clients, including some difficult ones, adore him.

== female
The detective lit the lamp. On the bed sat a boy with a suitcase. He said nothing. The detective sat down beside him,
opened her bag, and offered him half of her sandwich.

== male
The au pair arrived with a guitar and one word of French. Madame Leroy had expected a girl. She got a Norwegian with
size forty-six shoes, who burned the soup on his first day and was loved by the third.

== female
Judge Halloran reads the file twice, then a third time. Her clerk, Ben, has learned to bring tea at the second
reading. He leaves it by the door. She never thanks him, and he never minds.

== male
Every evening at six, old Mr. Castellan feeds the pigeons on the square. The mayor has forbidden it. She lives across
the street and pretends not to see.

== unparsed
Leila and Omar drive the same taxi. She takes the day, he takes the night. They meet at the petrol station, where he
hands her the keys and she hands him a coffee.

== female
The mayor of Little Hampton is nine years old and has four legs. Her name is Biscuit. She was elected in May.

== unparsed
Here are three mottos:

1. Stay curious.

2. Fear is a compass.

3. No one rows alone.

== nonbinary
Gender: nonbinary
| Name: Ocean Blake
| Trait: stubborn
| Backstory: Ocean left home at seventeen and has been repairing boats ever since.

== male
**Trait: generous**

Big Ulrich owns the only bakery in the valley. What he does not sell by noon he gives away. His accountant weeps.
"Let her weep," says Ulrich.

== female
Sister Benedetta has a motorcycle, a mechanic's licence, and the permission of the bishop, in that order.

== unparsed
Engineers are a curious people. They measure everything and remember nothing.

== male
It's not easy being the only male kindergarten teacher in town. Paolo knows. Mothers stare; children do not. He ties
his apron and starts with the frog song.

== female
Anyone who thinks that librarians are quiet has not met Philippa Grange. She has thrown out senators.

== male
When the ferry sank, the cook was the last to leave it. He had gone back for the ship's cat. She did not thank him.

== female
Although everyone in the firm assumed that the new welder would be a man, it was Katarzyna who walked in. She asked
where she could put her helmet.

== unparsed
The astronaut floats. Below, a continent goes dark, city by city. It is very quiet.

== male
Tomasz has three sisters, and each of them has an opinion about his beard. He is a coroner. The dead, he says, never
comment.

== female
Adaeze was seven when she decided to become a pilot. Her teacher laughed. He stopped laughing when she drew him the
cockpit of a Boeing from memory.

== nonbinary
The programmer in the corner office goes by Zed and uses they/them pronouns. Nobody has ever seen Zed eat.

== female
Grandma Lou boxes on Tuesdays.

== male
The lifeguard is sixty-eight. He has saved four swimmers, two dogs, and a marriage.

== female
A ballerina with a broken toe does not stop dancing. She smiles wider.

== unparsed
The author thanks his or her readers, as is the custom, and hopes that they will forgive the ending.

== female
My boss is called Renate. She hired me when nobody else would. In ten years she has never raised her voice, she has
never missed a deadline, and she has never once said good morning.
"""
