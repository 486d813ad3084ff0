# A program for the agent `pipe:`, in Perl: crib-env match "pipe:perl examples/pipe_bot.pl" greedy --games 100
use strict;
use warnings;
use JSON::PP;
$| = 1;    # each answer goes out at once

sub value {    # what a card counts, 1 to 10
    my $place = index("A23456789TJQK", substr($_[0], 0, 1)) + 1;
    return $place < 10 ? $place : 10;
}

while (my $line = <STDIN>) {
    my $asked = decode_json($line);
    my @cards = sort { value($b) <=> value($a) } @{ $asked->{legal} };
    if ($asked->{ask} eq "discard") {
        @cards = @cards[0, 1];
    } else {    # a card that makes 15 or 31, else the highest
        my @makes = grep { ($asked->{count} + value($_)) =~ /^(15|31)$/ } @cards;
        @cards = (@makes, @cards)[0];
    }
    print encode_json({ id => $asked->{id}, cards => \@cards }), "\n";
}
