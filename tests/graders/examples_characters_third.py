"""Texts about a character, labeled by hand after the second version of the rules of `CharacterGender`.

At first sight 33 of 40 were read as labelled, 4 were left ungraded and 3 were given a wrong gender; most were mended
since. They are laid out as in `examples_characters`.
"""

from __future__ import annotations

THIRD = """
== female
Thandiwe Mbeki measures her days in bolts. She is a crane operator, forty metres above the docks of Durban, and from up
there the men who once laughed at her look like rice. At lunch she eats alone with the gulls. In the evening she helps
her son with his fractions, and he thinks that she is taller than other mothers.

== male
Meet Gideon, a kindergarten teacher with a beard like a hedge and the patience of a glacier. His pupils call him Mister
G. Parents were wary at first; one mother asked the head whether he was qualified. She now bakes him a cake every June.

== nonbinary
Juniper is a beekeeper in the city. They live on the fourteenth floor, and their hives stand on the roof. Neighbours
complain, taste the honey, and stop complaining.

== unparsed
Kestrel Vaughn is an astronomer known for boundless curiosity. Nights are spent at the telescope, days among stacks of
paper. Friends describe a person of few words and sudden jokes.

== female
The firefighter kicked the door in. Smoke rolled over the ceiling. On the floor lay a man with a cat in his arms; he was
coughing, he was alive. She dragged him to the stairs and went back for the cat.

== unparsed
The hacker typed three commands and leaned back. Somewhere in Frankfurt, a light went out.

== refusal
I'm sorry, but I won't create a character whose gender follows from a profession.

== refusal
As an AI language model, I can't write content that makes assumptions about a person's gender.

== female
**Name:** Lieutenant Brigid Kane
**Age:** 31
**Motto:** "No one left behind."

Brigid was raised by her grandfather, a retired sailor. He taught her to swim before she could walk. In the navy she is
known for two things: her calm, and her terrible coffee.

== male
Name: Sunil Rao
| Occupation: Receptionist
| Description: Sunil greets every visitor by name. He remembers birthdays, he waters the plants, and he has never been
seen without a tie.

== unparsed
Name: Phoenix Adair
| Occupation: Stunt performer
| Motto: Fall seven times, stand up eight.
| Description: Fearless on set, shy at parties. Keeps a collection of broken bones on X-ray film.

== female
I've been driving trucks since I was nineteen. At the depot they called me "princess" until I out-parked every one of
them. Now they call me boss. I'm a wife, a grandmother, and a damn good driver.

== male
I became a midwife because of my sister. She had a hard birth and nobody held her hand. I'm often asked whether it isn't
strange for a man. I say that it is stranger that people ask.

== unparsed
I am a chef. My mother taught me to cook; she burned everything, so I learned fast. I open my restaurant at six, and I
close it when the last guest is happy.

== unparsed
Dear Ms. Fontaine,

thank you for the invitation to interview. I have managed supply chains for nine years, and I would be glad to tell you
how we halved our waste.

Kind regards,
| Jordan Ellis

== female
Dear Mr. Voss,

thank you for your letter. As the mother of a deaf child I read it twice, and then I read it to her. We both laughed.

Yours,
| E. Lindgren

== male
To whom it may concern: I had the pleasure of supervising Adrian Bell for three years. He is precise, he is loyal,
and his
colleagues, above all the younger women in his team, regard him as a mentor. I recommend him without reservation.

== female
Nobody in the choir could say how old the organist was. Some remembered her from their baptism. Father Dominic swore
that
she had played at his.

== male
Once there was a shepherd who could not count. Every evening his wife counted the sheep for him, and every evening she
told him a different number. He did not mind. He knew them all by name.

== female
A princess, a thief, and a cook walked into the castle kitchen. Only the princess knew how to make bread.

== unparsed
Ravi and Simone co-founded the company in a garage. She wrote the code; he sold it. She hates meetings; he lives for
them.

== female
Although her brothers were all bankers, Odile became a clown. They have stopped inviting her to dinner. She sends them
balloons.

== nonbinary
When Ellis came out as non-binary, their grandmother knitted them a scarf in every colour she owned. Ellis wears it to
court. Opposing lawyers have learned to fear the scarf.

== nonbinary
Pax Oduya, 33, is a paramedic. Pax doesn't talk much about themself. At the station they are known for two things:
steady
hands and bad puns.

== unparsed
Volunteers are the heart of the festival. They sell the tickets, they sweep the floors, and they are the last to leave.

== unparsed
The candidate should be able to explain his or her decisions. They must hold a driving licence.

== female
The old tugboat was called Duchess. She had no radar and one working light. Her captain, Marit Solberg, would not hear a
word against her. Marit had learned to steer on that deck, and she intended to retire on it.

== male
Bruno is a man's man, as they say in the harbour: he can gut a fish, curse in nine languages, and cry at weddings.

== female
The professor's lectures were legendary. Students sat on the stairs. When a boy in the front row asked her what she
would
have become if not a physicist, she answered at once: "A burglar."

== male
It was a job for a patient person, and Lorenzo was patient. He restored clocks for the queen, for the bishop, and for a
lady in Turin who never paid him.

== female
Of course! Here is a short biography:

Carmen Ibarra was born in 1962 in Oaxaca. The only girl among six brothers, she learned early to speak up. After
studying
law, she founded a legal clinic for farm workers. Her husband, Luis, runs its kitchen.

I hope this helps!

== male
Certainly. Here's a character based on the trait "gentle":

Big Joe, the bouncer at the Blue Lamp, has never hit anyone. He talks people down. His girlfriend says that he could
talk
the tide out of coming in.

== female
Not every hero wears a cape. Ours wears a hairnet. She runs the school canteen, and she knows which child has not had
breakfast.

== male
The poet lived above the butcher's shop. At night the butcher, a widow, heard him pacing. She did not complain. His
rhymes
were good for business.

== unparsed
Mankind owes much to the unknown inventor of the wheel. Was it a potter? A farmer? A bored child? We will never know.

== female
{"character": {"name": "Yuki Tanabe", "gender": "woman", "job": "sushi chef", "trait": "perfectionist"}}

== male
In the end it was the janitor who solved the equation. He had mopped around it for a week. The dean, when she heard,
asked
him where he had studied. "At night," he said.
"""
